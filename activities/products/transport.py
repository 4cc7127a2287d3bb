"""One exchange with a product: what was sent, what came back, and what is certain about it."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import httpcore

from activities.destinations import Destination, DestinationRefused
from activities.faults import at
from activities.products.streams import CheckedBackend

CONNECT_SECONDS = 1.0
# Shorter than the idle time after which servers commonly hang up (5 s and more): a request that
# is written into a connection being closed may have been sent, and would be unknown.
KEEP_ALIVE_SECONDS = 3.0
MOST_CONNECTIONS = 100

_EXCHANGE_FAILURES = (
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.TimeoutException,
    httpcore.ConnectionNotAvailable,
)
_FIRST_BYTE = "http11.send_request_headers.started"
_LAST_BYTE = "http11.send_request_body.complete"


class Failure(StrEnum):
    """Why there is no answer."""

    DESTINATION = "destination"
    """The name leads to an address that may not be called; nothing was sent."""
    NOT_SENT = "not-sent"
    """No address, no connection, no TLS, no time left: no byte was written."""
    LOST = "lost"
    """The first byte may have been written, and the answer did not come whole."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as it goes on the wire; ``target`` is path and query, already encoded."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A whole answer; ``body`` is None when it was larger than the limit."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes | None

    def values(self, name: bytes) -> list[str]:
        """Every value of a header (lower-case name)."""
        return [value.decode("latin-1") for key, value in self.headers if key.lower() == name]

    def header(self, name: bytes) -> str | None:
        """The value of a header (lower-case name) that occurs exactly once, else None."""
        values = self.values(name)
        return values[0] if len(values) == 1 else None


class Transport:
    """Keeps connections to one destination, newest first, and never sends a request twice.

    Redirects are not followed, cookies and proxies do not exist, nothing is read from the
    environment. Connections are not shared between requests that run at the same time. With
    ``confirmed`` nothing is written before the product has taken our certificate.
    """

    def __init__(
        self, destination: Destination, trust: ssl.SSLContext | None, *, confirmed: bool = False
    ) -> None:
        scheme = b"https" if destination.secure else b"http"
        self._destination = destination
        self._origin = httpcore.Origin(scheme, destination.host.encode("ascii"), destination.port)
        self._trust = trust
        self._backend = CheckedBackend(confirmed)
        self._idle: deque[httpcore.AsyncHTTPConnection] = deque()
        self._slots = asyncio.Semaphore(MOST_CONNECTIONS)
        self._closed = False

    async def exchange(
        self, request: HttpRequest, seconds: float, maximum_bytes: int
    ) -> HttpAnswer | Failure:
        """Send once and give the answer, or what is certain without one.

        ``seconds`` bounds everything, the wait for a free connection included.
        """
        sent = _FirstByte()
        try:
            async with asyncio.timeout(seconds), self._slots:
                return await self._exchange(request, maximum_bytes, sent)
        except DestinationRefused:
            return Failure.DESTINATION
        except (*_EXCHANGE_FAILURES, TimeoutError):
            return Failure.LOST if sent.begun else Failure.NOT_SENT

    async def aclose(self) -> None:
        """Close the idle connections; one in use closes with its request, and none is kept."""
        self._closed = True
        while self._idle:
            await self._idle.pop().aclose()

    async def _exchange(
        self, request: HttpRequest, maximum_bytes: int, sent: _FirstByte
    ) -> HttpAnswer:
        connection = await self._connection()
        try:
            response = await connection.handle_async_request(self._wire(request, sent.trace))
            body: bytes | None = await _read(response, maximum_bytes)
            if body is not None:
                await response.aclose()
        except BaseException:
            await connection.aclose()
            raise
        if connection.is_idle() and not self._closed and not _more_came(connection):
            self._idle.append(connection)
            await self._drop_expired()
        else:
            await connection.aclose()
        return HttpAnswer(response.status, tuple(response.headers), body)

    async def _connection(self) -> httpcore.AsyncHTTPConnection:
        while self._idle:
            connection = self._idle.pop()
            if not connection.has_expired() and connection.is_available():
                return connection
            await connection.aclose()
        return httpcore.AsyncHTTPConnection(
            self._origin,
            ssl_context=self._trust,
            keepalive_expiry=KEEP_ALIVE_SECONDS,
            network_backend=self._backend,
        )

    async def _drop_expired(self) -> None:
        while self._idle and self._idle[0].has_expired():
            await self._idle.popleft().aclose()

    def _wire(
        self, request: HttpRequest, trace: Callable[[str, dict[str, Any]], Awaitable[None]]
    ) -> httpcore.Request:
        headers = [
            (b"Host", self._destination.authority.encode("ascii")),
            *((name.encode("ascii"), value.encode("ascii")) for name, value in request.headers),
        ]
        if request.body or request.method != "GET":
            headers.append((b"Content-Length", str(len(request.body)).encode("ascii")))
        url = httpcore.URL(
            scheme=self._origin.scheme,
            host=self._origin.host,
            port=self._origin.port,
            target=(self._destination.prefix + request.target).encode("ascii"),
        )
        return httpcore.Request(
            request.method,
            url,
            headers=headers,
            content=request.body,
            extensions={"timeout": {"connect": CONNECT_SECONDS}, "trace": trace},
        )


class _FirstByte:
    """Whether the request began to be written: from there on it may have arrived."""

    __slots__ = ("begun",)

    def __init__(self) -> None:
        self.begun = False

    async def trace(self, name: str, _info: dict[str, Any]) -> None:
        if name == _FIRST_BYTE:
            self.begun = True
        elif name == _LAST_BYTE:
            at("after-send")


def _more_came(connection: httpcore.AsyncHTTPConnection) -> bool:
    """Whether anything came behind the answer: it would be read as that to the next request.

    httpcore tells of it nowhere; what comes later makes the idle connection readable.
    """
    inner = connection._connection
    if not isinstance(inner, httpcore.AsyncHTTP11Connection):
        return True
    return bool(inner._h11_state.trailing_data[0])


async def _read(response: httpcore.Response, maximum_bytes: int) -> bytes | None:
    """The body, or None once it is larger than allowed."""
    chunks = []
    size = 0
    async for chunk in response.aiter_stream():
        size += len(chunk)
        if size > maximum_bytes:
            return None
        chunks.append(chunk)
    return b"".join(chunks)


def remaining(deadline: float, limit: float) -> float:
    """Seconds that an exchange may take: its own limit, or what is left until the deadline."""
    return min(limit, deadline - time.monotonic())
