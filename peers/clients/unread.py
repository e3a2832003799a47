"""Clients that ask and do not read: `unread.py PORT COUNT`.

Each sends the request `flood` with a progress token of its own, in revision 2026-07-28. They stay until standard input ends.
"""

import json
import socket
import sys

port, count = map(int, sys.argv[1:])
HEAD = (
    "POST /mcp HTTP/1.1\r\nhost: localhost\r\naccept: application/json, text/event-stream\r\n"
    "mcp-protocol-version: 2026-07-28\r\nmcp-method: flood\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{}"
)
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def ask(id):
    client = socket.socket()
    # What the system reads ahead of them is little.
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(("127.0.0.1", port))
    request = {"jsonrpc": "2.0", "id": id, "method": "flood", "params": {"_meta": {**META, "progressToken": id}}}
    body = json.dumps(request)
    client.sendall(HEAD.format(len(body), body).encode())
    return client


clients = [ask(id) for id in range(count)]
print("asked", flush=True)
sys.stdin.read()
