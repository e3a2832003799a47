"""The Python SDK 1.x as a client that takes the steps of `steps.py`: `client_v1.py legacy VISITS`."""

import contextlib
import logging
import os

import anyio
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from replies import CALLBACKS
from steps import run

logging.disable()


class Peer:
    def __init__(self):
        self.changed = anyio.Event()
        self.log = anyio.Event()

    async def on_message(self, message):
        match getattr(message, "root", None):
            case types.ToolListChangedNotification():
                self.changed.set()

    async def on_log(self, params):
        self.line = params.data
        self.log.set()

    async def tools(self):
        return [tool.name for tool in (await self.session.list_tools()).tools]

    async def call(self, name, arguments=None, on_progress=None, meta=None):
        result = await self.session.call_tool(name, arguments or {}, progress_callback=on_progress)
        text = result.content[0].text
        if result.isError:
            raise ValueError(text)
        return text

    async def start(self, name, arguments, task_status):
        # The SDK has no call that cancels a request.
        id = self.session._request_id

        async def stop():
            params = types.CancelledNotificationParams(requestId=id)
            notification = types.CancelledNotification(params=params)
            await self.session.send_notification(types.ClientNotification(notification))

        task_status.started(stop)
        with contextlib.suppress(Exception):
            await self.call(name, arguments)

    async def read(self, uri):
        return (await self.session.read_resource(uri)).contents[0].text

    async def prompt(self, name, arguments):
        return (await self.session.get_prompt(name, arguments)).messages[0].content.text

    @contextlib.asynccontextmanager
    async def changes(self):
        self.changed = anyio.Event()
        yield self.changed.wait

    async def listen_to_logs(self):
        await self.session.set_logging_level("info")

    async def logged(self):
        await self.log.wait()
        return self.line


@contextlib.asynccontextmanager
async def connect(target):
    if target[0].startswith("http:"):
        transport = streamable_http_client(target[0])
    else:
        server = StdioServerParameters(command=target[0], args=target[1:], env=dict(os.environ))
        transport = stdio_client(server, errlog=open(os.devnull, "w"))
    peer = Peer()
    async with (
        transport as (read, write, *_),
        ClientSession(
            read,
            write,
            logging_callback=peer.on_log,
            message_handler=peer.on_message,
            **CALLBACKS,
        ) as session,
    ):
        await session.initialize()
        peer.session = session
        yield peer


run(connect)
