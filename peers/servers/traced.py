"""The Python SDK 2.x as a server whose tool says which span is the current one: the one that `_meta` names."""

import json

from mcp import types
from mcp.server.lowlevel import Server
from opentelemetry.trace import get_current_span

from serve import serve


async def list_tools(context, params):
    return types.ListToolsResult(tools=[types.Tool(name="where", input_schema={"type": "object"})])


async def call_tool(context, params):
    found = get_current_span().get_span_context()
    text = json.dumps({"trace": f"{found.trace_id:032x}", "span": f"{found.span_id:016x}"})
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


serve(Server("traced", on_list_tools=list_tools, on_call_tool=call_tool))
