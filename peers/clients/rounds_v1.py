"""The Python SDK 1.x as a client that lists and calls in rounds; see `rounds.mjs`. MODE is ignored."""

from contextlib import asynccontextmanager

from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamablehttp_client
from mcp.types import Implementation

from rounds import name, run, seen


@asynccontextmanager
async def connected(target):
    command, *args = target
    is_http = command.startswith("http:")
    opened = streamablehttp_client(command) if is_http else stdio_client(StdioServerParameters(command=command, args=args))
    info = Implementation(name=name, version="1") if name else None
    async with opened as streams, ClientSession(*streams[:2], client_info=info) as session:
        await session.initialize()
        yield session


async def call(session, tool):
    result = await session.call_tool(tool, {})
    return seen(result.content, result.structuredContent, result.isError)


run(connected, call)
