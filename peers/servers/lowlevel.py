"""The Python SDK 2.x as a server that writes schemas and results itself, as they are.

On standard input and output, or with `--http` on a free port, which it prints.
"""

from mcp import types
from mcp.server.lowlevel import Server

from serve import serve

RADIUS = {"type": "object", "properties": {"radius": {"type": "number"}}, "required": ["radius"]}
WIDTH = {"type": "object", "properties": {"w": {"type": "number"}}, "required": ["w"]}
TOOLS = {
    "forecast": ({"type": "array", "items": {"type": "string"}}, ["sun", "rain"]),
    "count": ({"type": "integer"}, 42),
    "find_person": ({"type": ["string", "null"]}, None),
    "shape": ({"anyOf": [RADIUS, WIDTH]}, {"radius": 2.0}),
}


async def list_tools(context, params):
    tools = [
        types.Tool(name=name, input_schema={"type": "object"}, output_schema=schema)
        for name, (schema, _) in TOOLS.items()
    ]
    return types.ListToolsResult(tools=tools)


async def call_tool(context, params):
    value = TOOLS[params.name][1]
    text = types.TextContent(type="text", text="structured")
    return types.CallToolResult(content=[text], structured_content=value)


server = Server("lowlevel", on_list_tools=list_tools, on_call_tool=call_tool)


serve(server)
