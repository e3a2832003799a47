"""A server without an SDK that reads members as the decoder of Go does, whatever the case of their names, and runs
`tools/call` whatever its id: `lenient.py RECORD`. Its tool writes down what it is called with.

On standard input and output, or with `--http` on a free port, which it prints.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ranged import INPUT, record

def member(value, name):
    """The last member of that name, in whatever case."""
    found = [inside for key, inside in value.items() if key.casefold() == name] if isinstance(value, dict) else []
    return found[-1] if found else None


def result(message):
    method, params = member(message, "method"), member(message, "params")
    if method == "initialize":
        info = {"name": "lenient", "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [{"name": "ranged", "inputSchema": INPUT}]}
    if method == "tools/call" and member(params, "name") == "ranged":
        return {"content": [], "structuredContent": record("ranged", member(params, "arguments"))}
    return {}


def answers(text):
    """The text of the answer; nothing where there is none."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    batch = message if isinstance(message, list) else [message]
    said = [
        {"jsonrpc": "2.0", "id": member(one, "id"), "result": result(one)} for one in batch if member(one, "method")
    ]
    said = [one for one in said if one["id"] is not None]
    return said and json.dumps(said if isinstance(message, list) else said[0]).encode()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        text = answers(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200 if text else 202)
        if text:
            self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(text or b"")

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    # Clients that connect at the same time are not turned away.
    request_queue_size = 128


if "--http" in sys.argv:
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
else:
    for line in sys.stdin.buffer:
        text = answers(line)
        if text:
            sys.stdout.buffer.write(text + b"\n")
            sys.stdout.buffer.flush()
