"""A server without an SDK that answers calls with the bytes it is told to: `scripted.py SCRIPT`, on standard input and
output, or with `--http` on a free port, which it prints.

SCRIPT is a file of JSON. `answers` has, for the name of a tool or a method, what is written for a request, where `$ID` is the id of the
request, `$FIRST` and `$LAST` those of the first and the last one of a client and `$PORT` the port; over HTTP that is all of the response, and `direct` is the response
to requests with the query `direct`. Bytes are characters up to U+00FF, or a list of
a head, a text and its encoding. The tools are `honest` and those with an answer, or `pages` are the pages of the list. `resumed`
is the answer to a client that resumes a stream. `record` is a file that gets the arguments of each call as a line.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

with open(sys.argv[1]) as file:
    script = json.load(file)
first = []
port = None
OUTPUT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def tool(name):
    return {"name": name, "inputSchema": {"type": "object"}, "outputSchema": OUTPUT}


PAGES = script.get("pages") or [[tool("honest"), *[tool(name) for name in script.get("answers", {})]]]


def result(message):
    """The result of an ordinary request."""
    params = message.get("params") or {}
    method = message["method"]
    if method == "initialize":
        info = {"name": "scripted", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "server/discover":
        meta = {"io.modelcontextprotocol/serverInfo": {"name": "scripted", "version": "1"}}
        versions = ["2026-07-28"]
        return {"resultType": "complete", "supportedVersions": versions, "capabilities": {"tools": {}}, "_meta": meta}
    if method == "tools/list":
        page = int(params.get("cursor") or 0)
        more = {"nextCursor": str(page + 1)} if page + 1 < len(PAGES) else {}
        return {"resultType": "complete", "tools": PAGES[page], "ttlMs": 0, "cacheScope": "private", **more}
    if method == "tools/call":
        return {"resultType": "complete", "content": [{"type": "text", "text": "1"}], "structuredContent": {"n": 1}}
    return {}


def scripted(message):
    """What is written for a call, or for a request about a task."""
    params = message.get("params") or {}
    if script.get("record") and message.get("method") == "tools/call":
        with open(script["record"], "a") as record:
            record.write(json.dumps(params.get("arguments")) + "\n")
    if message.get("method") in ("initialize", "server/discover"):
        first.clear()
    first.append(message.get("id"))
    answers = script.get("answers", {})
    return written(answers.get(params.get("name")) or answers.get(message.get("method")), message)


def written(text, message):
    """The bytes of a text of the script."""
    if not text:
        return None
    head, text, encoding = text if isinstance(text, list) else ("", text, "latin-1")
    text = text.replace("$PORT", str(port)).replace("$ID", json.dumps(message.get("id"))).replace("$FIRST", json.dumps(first[0]))
    text = text.replace("$LAST", json.dumps(first[-1]))
    return head.encode("latin-1") + text.encode(encoding)


def ordinary(message):
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result(message)}).encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        message = json.loads(body)
        self.close_connection = True
        raw = written(script["direct"], message) if self.path.endswith("?direct") else scripted(message)
        if "id" not in message or "method" not in message:
            raw = b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        elif not raw:
            text = ordinary(message)
            head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n"
            head += b"mcp-session-id: one\r\n\r\n" if message["method"] == "initialize" else b"\r\n"
            raw = head % len(text) + text
        self.wfile.write(raw)

    def do_GET(self):
        none = b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        resumes = self.headers.get("last-event-id") and "resumed" in script
        self.close_connection = True
        self.wfile.write(written(script["resumed"], {}) if resumes else none)

    def do_DELETE(self):
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")

    def log_message(self, *arguments):
        pass


if "--http" in sys.argv:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port = server.server_address[1]
    print(port, flush=True)
    server.serve_forever()
else:
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" in message and "method" in message:
            sys.stdout.buffer.write(scripted(message) or ordinary(message) + b"\n")
            sys.stdout.buffer.flush()
