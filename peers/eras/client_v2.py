"""The Python SDK 2.x as a client that takes the steps of `steps.py`: `client_v2.py modern|legacy|dual VISITS`."""

import contextlib
import logging
import os
import sys
import warnings

import anyio
from mcp import Client, StdioServerParameters, types
from mcp.client.stdio import stdio_client

from replies import CALLBACKS
from steps import run

logging.disable()
warnings.simplefilter("ignore")

MODE = {"modern": "2026-07-28", "legacy": "legacy", "dual": "auto"}[sys.argv[1]]


class Peer:
    def __init__(self):
        self.changed = anyio.Event()
        self.log = anyio.Event()

    @property
    def is_modern(self):
        return self.client.protocol_version >= "2026-07-28"

    async def on_message(self, message):
        if isinstance(message, types.ToolListChangedNotification):
            self.changed.set()

    async def on_log(self, params):
        self.line = params.data
        self.log.set()

    async def tools(self):
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def call(self, name, arguments=None, on_progress=None, meta=None):
        meta = meta if self.is_modern else None
        result = await self.client.call_tool(name, arguments or {}, progress_callback=on_progress, meta=meta)
        text = result.content[0].text
        if result.is_error:
            raise ValueError(text)
        return text

    async def start(self, name, arguments, task_status):
        with anyio.CancelScope() as scope:

            async def stop():
                scope.cancel()

            task_status.started(stop)
            with contextlib.suppress(Exception):
                await self.call(name, arguments)

    async def read(self, uri):
        return (await self.client.read_resource(uri)).contents[0].text

    async def prompt(self, name, arguments):
        return (await self.client.get_prompt(name, arguments)).messages[0].content.text

    @contextlib.asynccontextmanager
    async def changes(self):
        if self.is_modern:
            async with self.client.listen(tools_list_changed=True) as subscription:
                yield subscription.__anext__
        else:
            self.changed = anyio.Event()
            yield self.changed.wait

    async def listen_to_logs(self):
        if not self.is_modern:
            await self.client.session.set_logging_level("info")

    async def logged(self):
        await self.log.wait()
        return self.line


@contextlib.asynccontextmanager
async def connect(target):
    server = target[0]
    if not server.startswith("http:"):
        parameters = StdioServerParameters(command=target[0], args=target[1:], env=dict(os.environ))
        server = stdio_client(parameters, errlog=open(os.devnull, "w"))
    peer = Peer()
    async with Client(
        server,
        mode=MODE,
        logging_callback=peer.on_log,
        message_handler=peer.on_message,
        **CALLBACKS,
    ) as client:
        peer.client = client
        yield peer


run(connect)
