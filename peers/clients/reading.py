"""What the readers on the Python SDK have in common: CALLS is JSON, the names of tools, and TARGET the URL of a server or the
command that starts it. They print what came of each call: its structured content, or why there is none."""

import asyncio
import json
import logging

logging.disable()

# Whether the response to a call over HTTP, and what the client resumed of it, has been read to its end.
over = asyncio.Event()


def watch(transport):
    """Tells when the transport over HTTP is done with a call."""
    handle = transport._handle_post_request

    async def handle_and_tell(self, context):
        message = context.session_message.message
        try:
            await handle(self, context)
        finally:
            if getattr(getattr(message, "root", message), "method", None) == "tools/call":
                over.set()

    transport._handle_post_request = handle_and_tell


async def attempt(action):
    try:
        value, error = await action
        return {"value": value, "error": error}
    except Exception as error:
        return {"failed": str(error)[:300]}


async def in_turn(client, call, name, is_http):
    """A process answers in turn, and nothing follows the end of a response: when the next call is answered, this one has no
    answer."""
    over.clear()
    answer = asyncio.ensure_future(attempt(call(client, name)))
    await (over.wait() if is_http else asyncio.sleep(0))
    await attempt(call(client, "honest"))
    await asyncio.wait([answer], timeout=0)
    return answer.result() if answer.done() or not answer.cancel() else {"failed": "no answer"}


def run(connect, call, calls, is_http):
    async def main():
        async with connect() as client:
            print(json.dumps([await in_turn(client, call, name, is_http) for name in json.loads(calls)]))

    asyncio.run(main())
