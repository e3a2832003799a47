"""A server without an SDK for clients that share it: `slow.py RECORD GATE`, on standard input and output.

RECORD gets a line for each message: its method and its id, or the id that it cancels. `wait` is answered when the file GATE is
there, and nothing is read meanwhile; `never` is not answered; `flood` has six mebibytes of progress before its answer; `large` is
answered with a batch of fourteen mebibytes.
"""

import json
import os
import sys
import time

record, gate = open(sys.argv[1], "a", buffering=1), sys.argv[2]
TOOL = {"name": "count", "inputSchema": {"type": "object"}, "outputSchema": {"type": "integer"}}
META = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


def write(*messages):
    for message in messages:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def progress(params):
    token = params["_meta"]["progressToken"]
    for step in range(96):
        said = {"progressToken": token, "progress": step, "message": "x" * 65536}
        write({"method": "notifications/progress", "params": said})


for line in sys.stdin.buffer:
    message = json.loads(line)
    method, params, id = message.get("method"), message.get("params") or {}, message.get("id")
    record.write(json.dumps([method, params.get("requestId", id)]) + "\n")
    if method == "flood":
        progress(params)
    while method == "wait" and not os.path.exists(gate):
        time.sleep(0.01)
    if id is None or method == "never":
        continue
    if method == "large":
        answer = json.dumps({"jsonrpc": "2.0", "id": id, "result": {"content": [], "structuredContent": 42}})
        sys.stdout.write("[" + ",".join([answer] * (14 * 1024 * 1024 // len(answer))) + "]\n")
        sys.stdout.flush()
    elif method == "initialize":
        info = {"name": "bare", "version": "1"}
        write({"id": id, "result": {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info}})
    elif method == "tools/list":
        write({"id": id, "result": {**META, "tools": [TOOL]}})
    else:
        write({"id": id, "result": {"content": [{"type": "text", "text": "42"}], "structuredContent": 42}})
