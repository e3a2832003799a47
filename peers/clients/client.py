"""The Python SDK 2.x as a client of revision 2026-07-28: connects to the command (or URL) after `--`, lists the
tools, makes the calls of the first argument (JSON: [name, arguments] pairs), and prints one JSON object."""

import json
import os
import sys

import anyio
from mcp import Client, StdioServerParameters

calls, dashes, command, *arguments = sys.argv[1:]
assert dashes == "--", "usage: client.py CALLS -- COMMAND ARGS…"


def dump(value):
    return value.model_dump(mode="json", by_alias=True, exclude_unset=True)


def failed(error):
    return {"failed": f"{type(error).__name__}: {error}"[:300]}


async def main():
    target = command
    if not command.startswith("http:"):
        target = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    report = {"tools": None, "calls": []}
    async with Client(target, mode="2026-07-28") as client:
        try:
            report["tools"] = [dump(tool) for tool in (await client.list_tools()).tools]
        except Exception as error:
            report["tools"] = failed(error)
        for name, parameters in json.loads(calls):
            try:
                report["calls"].append(dump(await client.call_tool(name, parameters)))
            except Exception as error:
                report["calls"].append(failed(error))
    print(json.dumps(report))


anyio.run(main)
