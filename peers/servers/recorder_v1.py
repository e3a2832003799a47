"""The Python SDK 1.x as a server whose tool writes down what it is called with; see `ranged.py` and `serve.py`."""

import logging

from mcp import types
from mcp.server.lowlevel import Server

from ranged import INPUT, OUTPUT, record
from serve import serve

logging.disable()
server = Server("recorder")


@server.list_tools()
async def list_tools():
    return [types.Tool(name="ranged", inputSchema=INPUT, outputSchema=OUTPUT)]


@server.call_tool(validate_input=False)
async def call_tool(name, arguments):
    return record(name, arguments)


serve(server)
