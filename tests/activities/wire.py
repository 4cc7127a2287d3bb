"""A raw TCP server whose connections do exactly what a test says, byte by byte."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE_ID}-00f067aa0ba902b7-01"


@dataclass
class Wire:
    """The address, how many connections were made and are open, each request's head and body."""

    port: int = 0
    connections: int = 0
    open: int = 0
    heads: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The base address."""
        return f"http://127.0.0.1:{self.port}"


Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def wire_server(answer: Answer, trust: ssl.SSLContext | None = None) -> AsyncIterator[Wire]:
    """Serve on a free port; ``answer`` is called with the writer once a request was read."""
    wire = Wire()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire.connections += 1
        wire.open += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                length = next(
                    (
                        int(line.split(":")[1])
                        for line in head.lower().split("\r\n")
                        if line.startswith("content-length:")
                    ),
                    0,
                )
                wire.heads.append(head)
                wire.bodies.append(await reader.readexactly(length))
                await answer(writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            wire.open -= 1
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=trust)
    wire.port = server.sockets[0].getsockname()[1]
    try:
        yield wire
    finally:
        server.close()


def reply(
    status: int = 200,
    body: bytes = b"{}",
    content_type: str = "application/json",
    headers: dict[str, str] | None = None,
) -> Answer:
    """Answer with a whole response."""
    head = {
        "content-type": content_type,
        "content-length": str(len(body)),
        "traceparent": TRACEPARENT,
        **(headers or {}),
    }

    async def write(writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status} Status", *(f"{name}: {value}" for name, value in head.items())]
        writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
        await writer.drain()

    return write


def raw(data: bytes, *, close: bool = True) -> Answer:
    """Write bytes as they are, and hang up."""

    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        if close:
            writer.close()

    return write


async def silence(writer: asyncio.StreamWriter) -> None:
    """Never answer."""
    await asyncio.sleep(30)


async def hang_up(writer: asyncio.StreamWriter) -> None:
    """Close without an answer."""
    writer.transport.abort()
