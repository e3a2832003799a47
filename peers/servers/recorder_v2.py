"""The Python SDK 2.x as a server whose tool writes down what it is called with; see `ranged.py` and `serve.py`."""

import logging

from mcp import types
from mcp.server.lowlevel import Server

from ranged import INPUT, OUTPUT, record
from serve import serve

logging.disable()


async def list_tools(context, params):
    tool = types.Tool(name="ranged", input_schema=INPUT, output_schema=OUTPUT)
    return types.ListToolsResult(tools=[tool])


async def call_tool(context, params):
    value = record(params.name, params.arguments)
    text = types.TextContent(type="text", text="done")
    return types.CallToolResult(content=[text], structured_content=value)


serve(Server("recorder", on_list_tools=list_tools, on_call_tool=call_tool))
