"""FastMCP as a server on standard input and output."""

from fastmcp import FastMCP
from shapes_tools import TOOLS

server = FastMCP("fast")
for tool in TOOLS:
    server.tool(tool)
server.run(show_banner=False)
