"""The Python SDK 1.x as a server with one tool that takes many kinds of arguments and answers with what it got.

The SDK checks arguments against the schema before the tool runs.
"""

import json

import mcp.types as types
from mcp.server.lowlevel import Server

from serve import serve

server = Server("takes")

EDIT = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "line": {"type": "integer"}},
    "required": ["path", "line"],
}
FILTER = {
    "type": "object",
    "properties": {"owner": {"type": "string"}, "open": {"type": "boolean"}},
    "required": ["owner", "open"],
}
SCHEMA = {
    "type": "object",
    "properties": {
        "limit": {"type": "integer"},
        "recursive": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "edits": {"type": "array", "items": EDIT},
        "filter": FILTER,
        "unit": {"enum": ["celsius", "fahrenheit"]},
        "note": {"type": "string"},
    },
}


@server.list_tools()
async def list_tools():
    return [types.Tool(name="take", description="answers with its arguments", inputSchema=SCHEMA)]


@server.call_tool()
async def call_tool(name, arguments):
    return [types.TextContent(type="text", text=json.dumps(arguments))]


serve(server)
