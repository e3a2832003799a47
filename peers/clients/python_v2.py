"""The Python SDK 2.x as a client; see `typescript.mjs` for what it takes and prints. MODE is `legacy` or `auto`."""

import sys

from mcp import Client, StdioServerParameters

from visits import report, run

mode = sys.argv[1]


async def names(client):
    return [tool.name for tool in (await client.list_tools()).tools]


async def call(client, name, arguments):
    result = await client.call_tool(name, arguments)
    return {"error": result.content[0].text} if result.is_error else {"value": result.structured_content}


async def visit(target, calls):
    command, *args = target
    is_http = command.startswith("http:")
    server = command if is_http else StdioServerParameters(command=command, args=args)
    async with Client(server, mode=mode) as client:
        return await report(client, names, call, calls)


run(visit)
