"""The Python SDK 1.x as a client; see `typescript.mjs` for what it takes and prints. MODE is ignored."""

from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamablehttp_client

from visits import report, run


async def names(session):
    return [tool.name for tool in (await session.list_tools()).tools]


async def call(session, name, arguments):
    result = await session.call_tool(name, arguments)
    return {"error": result.content[0].text} if result.isError else {"value": result.structuredContent}


async def visit(target, calls):
    command, *args = target
    is_http = command.startswith("http:")
    params = StdioServerParameters(command=command, args=args)
    async with streamablehttp_client(command) if is_http else stdio_client(params) as streams:
        async with ClientSession(*streams[:2]) as session:
            await session.initialize()
            return await report(session, names, call, calls)


run(visit)
