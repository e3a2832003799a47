"""FastMCP as a client; see `typescript.mjs` for what it takes and prints. MODE is `legacy` or `auto`.

It reads structured content as types of its own (`data`), which are turned to JSON again here."""

import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from pydantic_core import to_jsonable_python

from visits import report, run

mode = sys.argv[1]


async def names(client):
    return [tool.name for tool in await client.list_tools()]


async def call(client, name, arguments):
    result = await client.call_tool(name, arguments, raise_on_error=False)
    if result.is_error:
        return {"error": result.content[0].text}
    return {"value": result.structured_content, "data": to_jsonable_python(result.data)}


async def visit(target, calls):
    command, *args = target
    server = command if command.startswith("http:") else StdioTransport(command, args)
    async with Client(server, mode=mode) as client:
        return await report(client, names, call, calls)


run(visit)
