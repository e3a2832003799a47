"""The Python SDK 2.x as a server: results that are a list, a number, nothing and an object."""

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
def find_person() -> Optional[str]:
    return None


@server.tool()
def shape() -> Shape:
    return {"radius": 2.0}


server.run()
