"""What the Python clients `rounds_*.py` have in common; see `rounds.mjs` for what they take and print."""

import asyncio
import json
import logging
import os
import sys

mode = sys.argv[1]
name = os.environ.get("CLIENT_NAME")


def thrown(error):
    # Connections are made in groups of tasks.
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return {"thrown": f"{type(error).__name__}: {error}"}


def seen(content, structured, is_error):
    """What a model can get of a result."""
    return {"texts": [getattr(block, "text", None) for block in content], "structured": structured, "isError": bool(is_error)}


async def play(client, call, rounds, played):
    """Adds what comes of each round to `played`."""
    for lists, names in rounds:
        failed = None
        try:
            if lists:
                await client.list_tools()
        except Exception as error:
            failed = thrown(error)
        played.append([])
        for name in names:
            try:
                played[-1].append(failed or await call(client, name))
            except Exception as error:
                played[-1].append(thrown(error))


def run(connected, call):
    """`connected` makes a client of the words of a server, for the time of a visit."""

    async def visit(target, rounds):
        played = []
        try:
            async with connected(target) as client:
                await play(client, call, rounds, played)
        except Exception as error:
            # What is over stays as it was.
            for _, names in rounds[len(played) :]:
                played.append([thrown(error) for _ in names])
        return played

    async def main():
        for target, rounds in json.loads(sys.argv[2]):
            print(json.dumps(await visit(target, rounds)), flush=True)

    logging.disable()
    asyncio.run(main())
