"""Serves a low-level server of the Python SDK 1.x or 2.x: on standard input and output, or with `--http` on a free port,
which it prints."""

import contextlib
import sys

import anyio
from mcp.server.stdio import stdio_server


def serve(server):
    if "--http" in sys.argv:
        from listen import listen

        listen(server.streamable_http_app() if hasattr(server, "streamable_http_app") else app_v1(server))
    else:
        anyio.run(run, server)


async def run(server):
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def app_v1(server):
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
