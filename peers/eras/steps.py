"""What every client does with every server.

Prints one JSON line for each step: {"visit", "step"} and, where it failed, "error". `visits` is [[name, [URL] or
[command, …arguments], lines], …], with lines as in `steps.mjs`; `connect` is a context manager that gives what the steps use.
"""

import itertools
import json
import os
import sys

import anyio

LIMIT = 60
TOOLS = {"add", "ask_name", "ask_model", "ask_roots", "count_up", "release", "wait", "state", "log", "add_tool"}
count = itertools.count(1)


def fresh():
    """A name that no other step and no other client uses."""
    return f"{os.getpid()}_{next(count)}"


def same(found, expected):
    if found != expected:
        raise ValueError(f"expected {expected}, found {found}")


async def list_tools(peer):
    same(TOOLS - set(await peer.tools()), set())


async def answer(peer):
    same(float(await peer.call("add", {"a": 2, "b": 3})), 5.0)


async def elicit(peer):
    same(await peer.call("ask_name"), "Hello, Ada")


async def sample(peer):
    same(await peer.call("ask_model"), "The model said: 42")


async def progress(peer):
    token = fresh()
    seen = []

    async def on_progress(progress, total, message):
        seen.append(progress)

    async def release():
        while len(seen) < 3:
            await anyio.sleep(0.01)
        await peer.call("release", {"token": token})

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(release)
        same(await peer.call("count_up", {"token": token}, on_progress=on_progress), "done")
    same(seen, [1, 2, 3])


async def cancel(peer):
    token = fresh()

    async def become(state):
        while await peer.call("state", {"token": token}) != state:
            await anyio.sleep(0.02)

    async with anyio.create_task_group() as tasks:
        stop = await tasks.start(peer.start, "wait", {"token": token})
        await become("running")
        await stop()
        await become("cancelled")
        tasks.cancel_scope.cancel()


async def read(peer):
    same(await peer.read("test://greeting"), "Hello from a resource")


async def prompt(peer):
    same(await peer.prompt("greet", {"name": "Bo"}), "Greet Bo")


async def change(peer):
    name = fresh()
    async with peer.changes() as changed:
        await peer.call("add_tool", {"name": name})
        await changed()
        same(name in await peer.tools(), True)


async def roots(peer):
    same(await peer.call("ask_roots"), "file:///home/ada")


async def log(peer):
    await peer.listen_to_logs()
    await peer.call("log", {}, meta={"io.modelcontextprotocol/logLevel": "info"})
    same(await peer.logged(), "a line of the log")


def has(found, part):
    same(part if part in found else found, part)


async def play(peer, line):
    """One line; see `steps.mjs`."""
    kind, name, input, *rest = line
    if kind == "read":
        has(await peer.read(name), input)
    elif kind == "prompt":
        has(await peer.prompt(name, input), rest[0])
    elif kind == "call":
        has(await peer.call(name, input), rest[0])
    elif kind == "fails":
        try:
            found = await peer.call(name, input)
        except Exception as error:
            found = cause(error)
        has(found, rest[0])
    else:
        message, other, part = rest
        reported = anyio.Event()

        async def on_progress(progress, total, found):
            same(found, message)
            reported.set()

        async def end():
            await reported.wait()
            await peer.call(*other)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(end)
            has(await peer.call(name, input, on_progress=on_progress), part)


STEPS = {
    "list": list_tools,
    "answer": answer,
    "elicit": elicit,
    "sample": sample,
    "progress": progress,
    "cancel": cancel,
    "read": read,
    "prompt": prompt,
    "change": change,
    "roots": roots,
    "log": log,
}


def cause(error):
    """The first failure of a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return "timed out" if isinstance(error, TimeoutError) else f"{error or type(error).__name__}"


def tell(visit, step, error=None):
    line = {"visit": visit, "step": step}
    if error is not None:
        line["error"] = cause(error)[:500]
    print(json.dumps(line), flush=True)


async def take_steps(connect, visit, target, lines=None):
    is_connected = False
    steps = STEPS.items()
    if lines is not None:
        steps = [(" ".join(line[:2]), lambda peer, line=line: play(peer, line)) for line in lines]
    try:
        with anyio.fail_after(3 * LIMIT) as scope:
            async with connect(target) as peer:
                is_connected = True
                scope.deadline = float("inf")
                for step, take in steps:
                    try:
                        with anyio.fail_after(LIMIT):
                            await take(peer)
                        tell(visit, step)
                    except Exception as error:
                        tell(visit, step, error)
    except Exception as error:
        if not is_connected:
            tell(visit, "connect", error)


def run(connect):
    async def main():
        for visit in json.loads(sys.argv[2]):
            await take_steps(connect, *visit)

    anyio.run(main)
