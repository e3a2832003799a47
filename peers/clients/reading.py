"""What the readers on the Python SDK have in common: CALLS is JSON, the names of tools, and TARGET the URL of a server or the
command that starts it. They print what came of each call: its structured content, or why there is none."""

import asyncio
import json
import logging

logging.disable()

# Longer than any answer takes, in seconds.
HANG = 60


async def attempt(action):
    try:
        value, error = await action
        return {"value": value, "error": error}
    except Exception as error:
        return {"failed": str(error)[:300]}


async def in_turn(client, call, name):
    """A process answers in turn: when the next call is answered, this one has no answer."""
    answer = asyncio.ensure_future(attempt(call(client, name)))
    await asyncio.sleep(0)
    await attempt(call(client, "honest"))
    await asyncio.wait([answer], timeout=0)
    return answer.result() if answer.done() or not answer.cancel() else {"failed": "no answer"}


def run(connect, call, calls, is_http):
    async def main():
        async with connect() as client:
            read = [attempt(call(client, name)) if is_http else in_turn(client, call, name) for name in json.loads(calls)]
            print(json.dumps([await one for one in read]))

    asyncio.run(main())
