"""What the clients of both Python SDKs have in common: how they reach a server, what they do with it, and what they answer."""

import contextlib
import logging
import os
import warnings

import anyio
from mcp import StdioServerParameters, types
from mcp.client.stdio import stdio_client

logging.disable()
warnings.simplefilter("ignore")


async def elicit(context, params):
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def sample(context, params):
    content = types.TextContent(type="text", text="42")
    return types.CreateMessageResult(role="assistant", content=content, model="none")


async def list_roots(context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///home/ada")])


def started(target):
    """The streams of the server that a command starts."""
    server = StdioServerParameters(command=target[0], args=target[1:], env=dict(os.environ))
    return stdio_client(server, errlog=open(os.devnull, "w"))


class Peer:
    """A server, to a client; `client` calls it, and `session` is the session below."""

    is_modern = False

    def __init__(self):
        self.changed = anyio.Event()
        self.log = anyio.Event()
        self.callbacks = {
            "elicitation_callback": elicit,
            "sampling_callback": sample,
            "list_roots_callback": list_roots,
            "logging_callback": self.on_log,
            "message_handler": self.on_message,
        }

    async def on_message(self, message):
        if isinstance(getattr(message, "root", message), types.ToolListChangedNotification):
            self.changed.set()

    async def on_log(self, params):
        self.line = params.data
        self.log.set()

    async def tools(self):
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def call(self, name, arguments=None, on_progress=None, meta=None):
        meta = {"meta": meta} if self.is_modern else {}
        result = await self.client.call_tool(name, arguments or {}, progress_callback=on_progress, **meta)
        text = result.content[0].text
        if result.model_dump(by_alias=True).get("isError"):
            raise ValueError(text)
        return text

    async def read(self, uri):
        return (await self.client.read_resource(uri)).contents[0].text

    async def prompt(self, name, arguments):
        return (await self.client.get_prompt(name, arguments)).messages[0].content.text

    @contextlib.asynccontextmanager
    async def changes(self):
        self.changed = anyio.Event()
        yield self.changed.wait

    async def listen_to_logs(self):
        if not self.is_modern:
            await self.session.set_logging_level("info")

    async def logged(self):
        await self.log.wait()
        return self.line
