"""FastMCP as a proxy: fastmcp_proxy.py PORT (URL | COMMAND ARGS...), on standard streams where PORT is 0."""

import sys

from fastmcp.server import create_proxy

port, target = int(sys.argv[1]), sys.argv[2:]
if target[0].startswith("http"):
    backend = target[0]
else:
    backend = {"mcpServers": {"b": {"command": target[0], "args": target[1:]}}}
proxy = create_proxy(backend)
if port:
    proxy.run(transport="http", host="127.0.0.1", port=port, show_banner=False, log_level="error")
else:
    proxy.run(transport="stdio", show_banner=False, log_level="error")
