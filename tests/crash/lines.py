"""A line to the products that is cut at a chosen byte, in either direction."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_CHUNK = 65_536


@dataclass
class CutLine:
    """Passes on bytes to ``target`` until so many of one direction have gone; cut once, then whole.

    ``request`` or ``answer`` says how many bytes of that direction still pass, counted from the
    piece in which ``mark`` was asked for or answered; a negative number leaves so many out.
    ``on_cut`` is called with both ends still open, and both are closed after it.
    """

    target: str
    mark: bytes
    request: int | None = None
    answer: int | None = None
    on_cut: Callable[[], None] = lambda: None
    cut: asyncio.Event = field(default_factory=asyncio.Event)

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection from a caller, to its end."""
        parts = urlsplit(self.target)
        there = await asyncio.open_connection(parts.hostname, parts.port)
        marked = asyncio.Event()
        directions = (
            asyncio.create_task(self._pump(reader, there[1], self.request, marked, watch=True)),
            asyncio.create_task(self._pump(there[0], writer, self.answer, marked, watch=False)),
        )
        try:
            await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for direction in directions:
                direction.cancel()
            await asyncio.gather(*directions, return_exceptions=True)
            for end in (writer, there[1]):
                end.close()

    async def _pump(
        self,
        source: asyncio.StreamReader,
        sink: asyncio.StreamWriter,
        limit: int | None,
        marked: asyncio.Event,
        *,
        watch: bool,
    ) -> None:
        while data := await source.read(_CHUNK):
            if watch and self.mark in data:
                marked.set()
            if limit is not None and marked.is_set() and not self.cut.is_set():
                self.cut.set()
                sink.write(data[:limit])
                await sink.drain()
                await asyncio.sleep(0.05)
                self.on_cut()
                return
            sink.write(data)
            await sink.drain()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[str]:
        """The address of this line, while it is there."""
        server = await asyncio.start_server(self.carry, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            yield f"http://127.0.0.1:{port}"
            server.close()
