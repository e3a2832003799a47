"""Loaded by servers of the tests: names other than localhost do not resolve."""

import socket

_getaddrinfo = socket.getaddrinfo


def _loopback_only(host, *args, **kwargs):
    if host in (None, "localhost", "127.0.0.1", "::1", b"localhost", b"127.0.0.1", b"::1"):
        return _getaddrinfo(host, *args, **kwargs)
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


socket.getaddrinfo = _loopback_only
