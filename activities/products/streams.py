"""TCP and TLS streams for httpcore on asyncio, connected only to addresses that were checked.

The ``timeout`` parameters are httpcore's interface; whole exchanges are bounded by their caller.
"""

# ruff: noqa: ASYNC109

from __future__ import annotations

import asyncio
import select
import ssl
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import httpcore

from activities.destinations import resolve

CONFIRMATION_SECONDS = 0.5
_LOOK_SECONDS = 0.002
_LARGEST_BUFFER = 131_072


class ProductStream(asyncio.Protocol, httpcore.AsyncNetworkStream):
    """One connection; a waiting reader is woken by data, by the end or by a failure.

    With ``confirmed`` a TLS connection counts as open only when the product has taken our
    certificate, or has said nothing against it for a while.
    """

    def __init__(self, confirmed: bool = False) -> None:
        self._confirmed = confirmed
        self._transport: Any = None
        self._buffer = bytearray()
        self._ended = False
        self._failure: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self._writable = True
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Called by the loop: keep the bytes until they are read."""
        self._buffer += data
        if len(self._buffer) > _LARGEST_BUFFER:
            self._transport.pause_reading()
            self._paused = True
        self._wake()

    def eof_received(self) -> bool:
        """Called by the loop: the product sends no more, so the connection is of no use."""
        self._ended = True
        self._wake()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the loop."""
        self._ended, self._failure = True, exc
        self._writable = True
        self._wake()

    def pause_writing(self) -> None:
        """Called by the loop: the product does not take the bytes as fast as they come."""
        self._writable = False

    def resume_writing(self) -> None:
        """Called by the loop."""
        self._writable = True
        self._wake()

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """The next bytes, empty at the end; the caller's own timeout bounds the wait."""
        while not self._buffer:
            if self._failure is not None:
                raise httpcore.ReadError
            if self._ended:
                return b""
            self._reader = asyncio.get_running_loop().create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        data = bytes(self._buffer[:max_bytes])
        del self._buffer[:max_bytes]
        if self._paused and not self._ended:
            self._transport.resume_reading()
            self._paused = False
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Hand bytes to the system and wait while it can not take more."""
        if self._ended or self._transport.is_closing():
            raise httpcore.WriteError
        if buffer:
            self._transport.write(buffer)
        while not self._writable:
            self._writer = asyncio.get_running_loop().create_future()
            try:
                await self._writer
            finally:
                self._writer = None
        if self._ended:
            raise httpcore.WriteError

    async def aclose(self) -> None:
        """Close at once; what was not written is dropped."""
        self._transport.abort()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Lay TLS over the connection; ConnectError or ConnectTimeout."""
        loop = asyncio.get_running_loop()
        try:
            self._transport = await loop.start_tls(
                self._transport,
                self,
                ssl_context,
                server_hostname=server_hostname,
                ssl_handshake_timeout=timeout,
            )
        except (OSError, ssl.SSLError) as error:
            self._transport.abort()
            raise httpcore.ConnectError from error
        if self._transport is None:
            raise httpcore.ConnectError
        if self._confirmed:
            try:
                await self._until_taken()
            except BaseException:
                self._transport.abort()
                raise
        return self

    async def _until_taken(self) -> None:
        """Wait for the product's first word after the handshake; ConnectError if it hangs up.

        In TLS 1.3 our handshake is over before the product looks at our certificate. What is
        written meanwhile would count as sent, and every call with an expired certificate as
        unknown. A session ticket is what a product says when it has taken the certificate.
        """
        secured: ssl.SSLObject = self._transport.get_extra_info("ssl_object")
        loop = asyncio.get_running_loop()
        until = loop.time() + CONFIRMATION_SECONDS
        while secured.version() == "TLSv1.3" and loop.time() < until:
            if self._ended or self._failure is not None:
                raise httpcore.ConnectError
            if secured.session is not None and secured.session.has_ticket:
                return
            await asyncio.sleep(_LOOK_SECONDS)

    def get_extra_info(self, info: str) -> Any:
        """What httpcore asks: ``is_readable`` of an idle connection means that it is over."""
        if info == "is_readable":
            return bool(self._buffer) or self._ended or _readable(self._transport)
        return self._transport.get_extra_info(info)

    def _wake(self) -> None:
        for waiting in (self._reader, self._writer):
            if waiting is not None and not waiting.done():
                waiting.set_result(None)


def _readable(transport: Any) -> bool:
    # The loop may not have had its turn since the product closed: ask the system itself.
    descriptor = transport.get_extra_info("socket").fileno()
    if descriptor < 0:
        return True
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """Resolves a name, refuses forbidden addresses, and connects to the address it checked."""

    def __init__(self, confirmed: bool = False) -> None:
        self._stream = partial(ProductStream, confirmed)

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connected stream; ConnectError, ConnectTimeout or DestinationRefused."""
        try:
            async with asyncio.timeout(timeout):
                return await _first(self._stream, await resolve(host, port), port)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout from error
        except OSError as error:
            raise httpcore.ConnectError from error


async def _first(
    stream: Callable[[], ProductStream], addresses: list[str], port: int
) -> ProductStream:
    """Connect to the first address that answers; OSError of the last one if none does."""
    loop = asyncio.get_running_loop()
    for address in addresses[:-1]:
        try:
            return (await loop.create_connection(stream, address, port))[1]
        except OSError:
            continue
    return (await loop.create_connection(stream, addresses[-1], port))[1]
