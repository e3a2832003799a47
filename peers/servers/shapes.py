"""The Python SDK 2.x as a server on standard input and output."""

from mcp.server import MCPServer
from shapes_tools import TOOLS

server = MCPServer("python")
for tool in TOOLS:
    server.tool()(tool)
server.run()
