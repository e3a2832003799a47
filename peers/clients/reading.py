"""What the readers on the Python SDK have in common: CALLS is JSON, the names of tools, and TARGET the URL of a server or the
command that starts it. They print what came of each call: its structured content, or why there is none."""

import asyncio
import json
import logging
import os

logging.disable()


def wait(name):
    """How many seconds an answer is waited for: an ordinary one as long as it takes."""
    return 8 if name == "honest" else float(os.environ.get("READER_WAIT", 8))


async def attempt(action):
    try:
        value, error = await action
        return {"value": value, "error": error}
    except Exception as error:
        return {"failed": str(error)[:300]}


def run(connect, call, calls):
    async def main():
        async with connect() as client:
            print(json.dumps([await attempt(call(client, name)) for name in json.loads(calls)]))

    asyncio.run(main())
