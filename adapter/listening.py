"""Sockets that the processes of a deployment listen on, and the server of its own programs."""

from __future__ import annotations

import socket
from typing import Any

import uvicorn

from adapter.errors import Unavailable

_LOOPBACK = "127.0.0.1"
_BACKLOG = 1_024


def listen(host: str, port: int, *, code: str, place: str) -> socket.socket:
    """A listening socket at a numeric address, on a free port for 0.

    Unavailable with ``code`` and ``place`` when the address can not be listened on.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named so that asyncio turns Nagle's algorithm off.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise Unavailable(
            code,
            "the address can not be listened on",
            place=place,
            remedy="stop what listens there, or choose another address",
        ) from error
    return listener


def listen_on_loopback(port: int, *, code: str) -> socket.socket:
    """The same for programs of a development deployment, which nobody else may reach."""
    return listen(_LOOPBACK, port, code=code, place=f"{_LOOPBACK}:{port}")


def loopback_server(application: Any) -> uvicorn.Server:
    """What serves an ASGI application of a development deployment, after ``run(sockets=[…])``."""
    config = uvicorn.Config(
        application,
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)
