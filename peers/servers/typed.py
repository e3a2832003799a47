"""The Python SDK 2.x as a server: results that are a list, a number, nothing and an object.

On standard input and output, or with `--http` on a free port, which it prints.
"""

import sys
from typing import Optional, TypedDict

from mcp.server import MCPServer


class Shape(TypedDict):
    radius: float


server = MCPServer("typed")


@server.tool()
def forecast() -> list[str]:
    return ["sun", "rain"]


@server.tool()
def count() -> int:
    return 42


@server.tool()
def find_person(id: int) -> Optional[str]:
    return None


@server.tool()
def shape(id: int) -> Shape:
    return {"radius": 2.0}


if "--http" in sys.argv:
    from listen import listen

    listen(server.streamable_http_app())
else:
    server.run()
