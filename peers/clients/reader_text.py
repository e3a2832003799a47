"""A client on the text streams of Python without an SDK, as scripts have it: `reader_text.py CALLS COMMAND…`.

CALLS is JSON, the names of tools. The lines of the server are those of a text stream, which a carriage return ends, too. Prints
what came of each call: its structured content, or why there is none.
"""

import json
import subprocess
import sys

calls, *command = sys.argv[1:]
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")


def say(message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.flush()


def ask(id, method, params):
    say({"id": id, "method": method, "params": params})
    for line in server.stdout:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if message.get("id") == id:
            return message.get("result") or {"structuredContent": None, "isError": True}


def call(id, name):
    result = ask(id, "tools/call", {"name": name, "arguments": {}})
    return {"value": result.get("structuredContent"), "error": result.get("isError")}


info = {"name": "text", "version": "1"}
ask(0, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info})
say({"method": "notifications/initialized"})
print(json.dumps([call(id, name) for id, name in enumerate(json.loads(calls), 1)]))
server.kill()
