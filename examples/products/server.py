"""Serving the products on a real loopback socket: on the main thread or on one of its own."""

from __future__ import annotations

import socket
import threading
from types import TracebackType

import uvicorn

from examples.products.app import create_app
from examples.products.settings import ProductsSettings

_START_SECONDS = 15


class PortTaken(Exception):
    """The port can not be listened on; the message names it."""


def listen(port: int) -> socket.socket:
    """A listening loopback socket; port 0 takes a free one. Raises ``PortTaken``."""
    # asyncio turns Nagle's algorithm off only where the protocol is named; with it on, every
    # answer that is written in two parts waits 40 ms for an acknowledgement.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(2_048)
    except OSError as error:
        listener.close()
        raise PortTaken(f"port {port} of 127.0.0.1 can not be listened on") from error
    return listener


def address_of(listener: socket.socket) -> str:
    """The base URL of a listening socket."""
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


def server_for(settings: ProductsSettings) -> uvicorn.Server:
    """A uvicorn server for the products; start it with ``run(sockets=[…])``."""
    config = uvicorn.Config(
        create_app(settings),
        http="h11",
        ws="none",
        loop="asyncio",
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)


class ProductsServer:
    """The products on a thread of this process; a context manager."""

    def __init__(self, settings: ProductsSettings | None = None, port: int = 0) -> None:
        self._listener = listen(port)
        self.base_url = address_of(self._listener)
        self._server = server_for(settings or ProductsSettings())
        self._thread = threading.Thread(target=self._serve, name="pretend-products", daemon=True)

    def _serve(self) -> None:
        self._server.run(sockets=[self._listener])

    def start(self) -> None:
        """Start and wait until requests are answered. Raises ``RuntimeError`` if that fails."""
        self._thread.start()
        pause = threading.Event()
        for _ in range(_START_SECONDS * 100):
            if self._server.started:
                return
            if not self._thread.is_alive():
                break
            pause.wait(0.01)
        raise RuntimeError("the pretend products did not start")

    def stop(self) -> None:
        """Stop and wait; open requests get two seconds."""
        self._server.should_exit = True
        self._thread.join(_START_SECONDS)
        self._listener.close()

    def __enter__(self) -> ProductsServer:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
