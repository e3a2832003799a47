"""The Python SDK 1.x as a client that takes the steps of `steps.py`: `client_v1.py legacy VISITS`."""

import contextlib

from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client

from peer import Peer, started
from steps import run


class PeerV1(Peer):
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


@contextlib.asynccontextmanager
async def connect(target):
    is_http = target[0].startswith("http:")
    peer = PeerV1()
    async with (
        streamable_http_client(target[0]) if is_http else started(target) as (read, write, *_),
        ClientSession(read, write, **peer.callbacks) as session,
    ):
        await session.initialize()
        peer.client = peer.session = session
        yield peer


run(connect)
