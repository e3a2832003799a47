"""The Python SDK 2.x as a client that lists and calls in rounds; see `rounds.mjs`. MODE is `legacy` or a revision."""

from mcp import Client, StdioServerParameters
from mcp.types import Implementation

from rounds import mode, name, run, seen


def connected(target):
    command, *args = target
    server = command if command.startswith("http:") else StdioServerParameters(command=command, args=args)
    info = Implementation(name=name, version="1") if name else None
    return Client(server, mode=mode, client_info=info)


async def call(client, tool):
    result = await client.call_tool(tool, {})
    return seen(result.content, result.structured_content, result.is_error)


run(connected, call)
