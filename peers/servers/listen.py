"""Serves an application on a free port, which it prints."""

import socket

import uvicorn


def listen(app):
    place = socket.socket()
    place.bind(("127.0.0.1", 0))
    # Who connects before the server is up waits.
    place.listen()
    print(place.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[place])
