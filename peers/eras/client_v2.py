"""The Python SDK 2.x as a client that takes the steps of `steps.py`: `client_v2.py modern|legacy|dual VISITS`."""

import contextlib
import sys

import anyio
from mcp import Client

from peer import Peer, started
from steps import run

MODE = {"modern": "2026-07-28", "legacy": "legacy", "dual": "auto"}[sys.argv[1]]


class PeerV2(Peer):
    async def start(self, name, arguments, task_status):
        with anyio.CancelScope() as scope:

            async def stop():
                scope.cancel()

            task_status.started(stop)
            with contextlib.suppress(Exception):
                await self.call(name, arguments)

    @contextlib.asynccontextmanager
    async def changes(self):
        if self.is_modern:
            async with self.client.listen(tools_list_changed=True) as subscription:
                yield subscription.__anext__
        else:
            async with super().changes() as changed:
                yield changed


@contextlib.asynccontextmanager
async def connect(target):
    server = target[0] if target[0].startswith("http:") else started(target)
    peer = PeerV2()
    async with Client(server, mode=MODE, **peer.callbacks) as client:
        peer.client, peer.session = client, client.session
        peer.is_modern = client.protocol_version >= "2026-07-28"
        yield peer


run(connect)
