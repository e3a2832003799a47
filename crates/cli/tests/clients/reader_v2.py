"""The Python SDK 2.x as a client that reads results without checking them: `reader_v2.py MODE CALLS TARGET…`.

MODE is `legacy` or a revision. CALLS is JSON, the names of tools; TARGET is the URL of a server or the command that starts
it. Prints what came of each call: its structured content, or why there is none.
"""

import asyncio
import json
import logging
import sys

from mcp import Client, StdioServerParameters, types

logging.disable()

mode, calls, command, *arguments = sys.argv[1:]


async def call(client, name):
    request = types.CallToolRequest(params=types.CallToolRequestParams(name=name, arguments={}))
    try:
        result = await client.session.send_request(request, types.CallToolResult, 60)
        return {"value": result.structured_content, "error": result.is_error}
    except Exception as error:
        return {"failed": str(error)[:300]}


async def main():
    is_http = command.startswith("http:")
    server = command if is_http else StdioServerParameters(command=command, args=arguments)
    async with Client(server, mode=mode) as client:
        print(json.dumps([await call(client, name) for name in json.loads(calls)]))


asyncio.run(main())
