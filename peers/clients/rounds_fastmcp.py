"""FastMCP as a client that lists and calls in rounds; see `rounds.mjs`. MODE is `legacy` or a revision."""

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp.types import Implementation

from rounds import mode, name, run, seen


def connected(target):
    command, *args = target
    info = Implementation(name=name, version="1") if name else None
    return Client(command if command.startswith("http:") else StdioTransport(command, args, keep_alive=False), mode=mode, client_info=info)


async def call(client, tool):
    result = await client.call_tool(tool, {}, raise_on_error=False)
    return seen(result.content, result.structured_content, result.is_error)


run(connected, call)
