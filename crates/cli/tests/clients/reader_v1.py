"""The Python SDK 1.x as a client that reads results without checking them: `reader_v1.py CALLS TARGET…`.

CALLS is JSON, the names of tools; TARGET is the URL of a server or the command that starts it. Prints what came of each call:
its structured content, or why there is none. MODE of the other readers is always legacy here.
"""

import asyncio
import json
import logging
import sys
from datetime import timedelta

from mcp import ClientSession, StdioServerParameters, stdio_client, types
from mcp.client.streamable_http import streamablehttp_client

logging.disable()

calls, command, *arguments = sys.argv[1:]


async def ask(session, name):
    params = types.CallToolRequestParams(name=name, arguments={})
    request = types.ClientRequest(types.CallToolRequest(params=params))
    try:
        result = await session.send_request(request, types.CallToolResult, timedelta(seconds=60))
        return {"value": result.structuredContent, "error": result.isError}
    except Exception as error:
        return {"failed": str(error)[:300]}


async def call(session, name):
    if command.startswith("http:"):
        return await ask(session, name)
    # A process answers in turn: when the next call is answered, this one has no answer.
    answer = asyncio.ensure_future(ask(session, name))
    await asyncio.sleep(0)
    await ask(session, "honest")
    await asyncio.wait([answer], timeout=0)
    return answer.result() if answer.done() or not answer.cancel() else {"failed": "no answer"}


async def main():
    server = StdioServerParameters(command=command, args=arguments)
    is_http = command.startswith("http:")
    async with streamablehttp_client(command) if is_http else stdio_client(server) as streams:
        async with ClientSession(*streams[:2]) as session:
            await session.initialize()
            print(json.dumps([await call(session, name) for name in json.loads(calls)]))


asyncio.run(main())
