"""The Python SDK 2.x as a server whose tool writes down what it is called with: `recorder_v2.py RECORD`.

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


async def list_tools(context, params):
    tool = types.Tool(name="ranged", input_schema=INPUT, output_schema=OUTPUT)
    return types.ListToolsResult(tools=[tool])


async def call_tool(context, params):
    if params.name != "ranged":
        raise ValueError("no such tool")
    with open(sys.argv[1], "a") as record:
        record.write(json.dumps(params.arguments) + "\n")
    text = types.TextContent(type="text", text="done")
    return types.CallToolResult(content=[text], structured_content={"n": 1})


server = Server("recorder", on_list_tools=list_tools, on_call_tool=call_tool)


serve(server)
