"""FastMCP as a server: results that are a list, a number, nothing and an object.

On standard input and output, or with `--http` on a free port, which it prints.
"""

import sys
from dataclasses import dataclass
from typing import Optional

from fastmcp import FastMCP


@dataclass
class Shape:
    radius: float


server = FastMCP("fast")


@server.tool
def forecast() -> list[str]:
    return ["sun", "rain"]


@server.tool
def count() -> int:
    return 42


@server.tool
def find_person(id: int) -> Optional[str]:
    return None


@server.tool
def shape(id: int) -> Shape:
    return Shape(radius=2.0)


if "--http" in sys.argv:
    from listen import listen

    listen(server.http_app())
else:
    server.run(show_banner=False)
