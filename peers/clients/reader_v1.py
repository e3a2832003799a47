"""The Python SDK 1.x as a client that reads results without checking them: `reader_v1.py CALLS TARGET…`."""

import contextlib
import sys

from mcp import ClientSession, StdioServerParameters, stdio_client, types
from mcp.client.streamable_http import StreamableHTTPTransport, streamablehttp_client

from reading import run, watch

calls, command, *arguments = sys.argv[1:]


@contextlib.asynccontextmanager
async def connect():
    server = StdioServerParameters(command=command, args=arguments)
    is_http = command.startswith("http:")
    async with streamablehttp_client(command) if is_http else stdio_client(server) as streams:
        async with ClientSession(*streams[:2]) as session:
            await session.initialize()
            yield session


async def call(session, name):
    params = types.CallToolRequestParams(name=name, arguments={})
    request = types.ClientRequest(types.CallToolRequest(params=params))
    result = await session.send_request(request, types.CallToolResult)
    return result.structuredContent, result.isError


watch(StreamableHTTPTransport)
run(connect, call, calls, command.startswith("http:"))
