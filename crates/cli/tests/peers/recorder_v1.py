"""The Python SDK 1.x as a server whose tool writes down what it is called with: `recorder_v1.py RECORD`.

On standard input and output, or with `--http` on a free port, which it prints.
"""

import json
import logging
import sys

from mcp import types
from mcp.server.lowlevel import Server

from serve import serve

logging.disable()

INPUT = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 10}}, "required": ["n"]}
OUTPUT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
server = Server("recorder")


@server.list_tools()
async def list_tools():
    return [types.Tool(name="ranged", inputSchema=INPUT, outputSchema=OUTPUT)]


@server.call_tool(validate_input=False)
async def call_tool(name, arguments):
    if name != "ranged":
        raise ValueError("no such tool")
    with open(sys.argv[1], "a") as record:
        record.write(json.dumps(arguments) + "\n")
    return {"n": 1}


serve(server)
