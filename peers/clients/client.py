"""The Python SDK 2.x as a client of revision 2026-07-28; see `report.mjs` for what it takes and prints."""

import json
import os
import sys

import anyio
from mcp import Client, StdioServerParameters

calls, dashes, *words = sys.argv[1:]
assert dashes == "--", "usage: CALLS -- COMMAND ARGS… [--- COMMAND ARGS…]…"


def dump(value):
    return value.model_dump(mode="json", by_alias=True, exclude_unset=True)


def failed(error):
    return {"failed": f"{type(error).__name__}: {error}"[:300]}


async def visit(command, *arguments):
    target = command
    if not command.startswith("http:"):
        target = StdioServerParameters(command=command, args=list(arguments), env=dict(os.environ))
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


for target in "\0".join(words).split("\0---\0"):
    anyio.run(visit, *target.split("\0"))
