"""What the Python clients have in common; see `typescript.mjs` for what they take and print."""

import asyncio
import json
import sys


async def attempt(action):
    try:
        return await action
    except Exception as error:
        return {"failed": str(error)}


async def report(client, names, call, calls):
    """What comes of listing the `names` of the tools, and of each `call`."""
    report = {"tools": await attempt(names(client)), "calls": []}
    for name, arguments in calls:
        report["calls"].append(await attempt(call(client, name, arguments)))
    return report


def run(visit):
    async def main():
        for target, calls in json.loads(sys.argv[2]):
            print(json.dumps(await visit(target, calls)))

    asyncio.run(main())
