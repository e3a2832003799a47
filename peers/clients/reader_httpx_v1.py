"""A client on httpx without an SDK, as scripts have it: `reader_httpx_v1.py MODE CALLS URL`.

MODE is `exact`, or `folding` for a client that reads members whatever the case of their names, as the decoder of Go does.

CALLS is JSON, the names of tools. JSON is what `response.json()` reads, and the lines of events are those of
`response.iter_lines()`. Prints what came of each call: its structured content, or why there is none.
"""

import json
import sys

import httpx

mode, calls, url = sys.argv[1:]
headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
client = httpx.Client(headers=headers, timeout=None, follow_redirects=True)


def fold(value):
    """The value as the client reads it."""
    if mode == "exact" or not isinstance(value, dict):
        return value
    known = ["id", "result", "structuredContent", "isError"]
    names = {name.lower(): name for name in known}
    return {names.get(key.lower(), key): fold(inside) for key, inside in value.items()}


def messages(response):
    """The messages of a response."""
    if not response.headers["content-type"].startswith("text/event-stream"):
        response.read()
        return [response.json()]
    found, data = [], []
    for line in [*response.iter_lines(), ""]:
        if line.startswith("data:"):
            data.append(line[5:].strip())
        elif not line and data:
            found.append(json.loads("\n".join(data)))
            data = []
    return found


def ask(id, method, params):
    body = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    with client.stream("POST", url, json=body) as response:
        if session := response.headers.get("mcp-session-id"):
            client.headers["mcp-session-id"] = session
        response.raise_for_status()
        answers = [message for message in map(fold, messages(response)) if message.get("id") == id]
        return answers[0]["result"]


def call(id, name):
    try:
        result = ask(id, "tools/call", {"name": name, "arguments": {}})
        return {"value": result.get("structuredContent"), "error": result.get("isError")}
    except Exception as error:
        return {"failed": repr(error)[:300]}


info = {"name": "httpx", "version": "1"}
ask(0, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info})
client.post(url, json={"jsonrpc": "2.0", "method": "notifications/initialized"})
print(json.dumps([call(id, name) for id, name in enumerate(json.loads(calls), 1)]))
