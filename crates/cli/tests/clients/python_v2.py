"""The Python SDK 2.x as a client; see `typescript.mjs` for what it takes and prints. MODE is `legacy` or `auto`."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters

mode, visits = sys.argv[1:]


async def attempt(action):
    try:
        return await action
    except Exception as error:
        return {"failed": str(error)}


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
        report = {"tools": await attempt(names(client)), "calls": []}
        for name, arguments in calls:
            report["calls"].append(await attempt(call(client, name, arguments)))
    return report


async def main():
    for target, calls in json.loads(visits):
        print(json.dumps(await visit(target, calls)))


asyncio.run(main())
