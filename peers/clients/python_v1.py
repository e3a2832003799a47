"""The Python SDK 1.x as a client; see `typescript.mjs` for what it takes and prints. MODE is ignored. A URL that
ends with `/sse` is one of HTTP+SSE."""

from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamablehttp_client

from visits import report, run


async def names(session):
    return [tool.name for tool in (await session.list_tools()).tools]


async def call(session, name, arguments):
    result = await session.call_tool(name, arguments)
    return {"error": result.content[0].text} if result.isError else {"value": result.structuredContent}


async def visit(target, calls):
    command, *args = target
    if command.endswith("/sse"):
        opened = sse_client(command)
    elif command.startswith("http:"):
        opened = streamablehttp_client(command)
    else:
        opened = stdio_client(StdioServerParameters(command=command, args=args))
    async with opened as streams:
        async with ClientSession(*streams[:2]) as session:
            await session.initialize()
            return await report(session, names, call, calls)


run(visit)
