"""The Python SDK 1.x as a server whose tool writes down what it is called with: `recorder_v1.py RECORD`.

On standard input and output, or with `--http` on a free port, which it prints.
"""

import contextlib
import json
import logging
import sys

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

logging.disable()

INPUT = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 10}}, "required": ["n"]}
OUTPUT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
server = Server("recorder")


@server.list_tools()
async def list_tools():
    return [types.Tool(name="ranged", inputSchema=INPUT, outputSchema=OUTPUT)]


@server.call_tool(validate_input=False)
async def call_tool(name, arguments):
    if name != "ranged":
        raise ValueError("no such tool")
    with open(sys.argv[1], "a") as record:
        record.write(json.dumps(arguments) + "\n")
    return {"n": 1}


async def main():
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def app():
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.applications import Starlette
    from starlette.routing import Route

    manager = StreamableHTTPSessionManager(app=server)

    class Endpoint:
        async def __call__(self, scope, receive, send):
            await manager.handle_request(scope, receive, send)

    @contextlib.asynccontextmanager
    async def lifespan(app):
        async with manager.run():
            yield

    return Starlette(routes=[Route("/mcp", endpoint=Endpoint())], lifespan=lifespan)


if "--http" in sys.argv:
    from listen import listen

    listen(app())
else:
    anyio.run(main)
