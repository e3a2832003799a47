"""The Python SDK 2.x as a client that reads results without checking them: `reader_v2.py MODE CALLS TARGET…`. MODE is
`legacy` or a revision."""

import sys

from mcp import Client, StdioServerParameters, types
from mcp.client.streamable_http import StreamableHTTPTransport

from reading import run, watch

mode, calls, command, *arguments = sys.argv[1:]


def connect():
    is_http = command.startswith("http:")
    return Client(command if is_http else StdioServerParameters(command=command, args=arguments), mode=mode)


async def call(client, name):
    request = types.CallToolRequest(params=types.CallToolRequestParams(name=name, arguments={}))
    result = await client.session.send_request(request, types.CallToolResult)
    return result.structured_content, result.is_error


watch(StreamableHTTPTransport)
run(connect, call, calls, command.startswith("http:"))
