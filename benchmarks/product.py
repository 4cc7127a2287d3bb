"""A product that costs next to nothing: one record to read, one message to submit, on loopback."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal

_TRACE = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n"
_RECORD_LINK = '</registry/v1/records/applications/a-1>; rel="self"'


class Product(asyncio.Protocol):
    """One connection of a client: requests are answered in order, keep-alive always.

    It reads just enough HTTP/1.1 to tell requests apart: whole heads, a ``Content-Length``, no
    chunks. Messages are kept by their idempotency key, so a repeated one is the same message.
    """

    messages: dict[bytes, bytes]

    def __init__(self, messages: dict[bytes, bytes]) -> None:
        self.messages = messages
        self._buffer = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Called by the loop: answer every request that has come whole."""
        self._buffer += data
        while True:
            head, end, rest = self._buffer.partition(b"\r\n\r\n")
            length = int(_header(head, b"content-length") or b"0")
            if not end or len(rest) < length:
                return
            self._buffer = rest[length:]
            self._transport.write(self._answer(head))

    def _answer(self, head: bytes) -> bytes:
        if head.startswith(b"GET /v1/records/applications/"):
            return _RECORD
        key = _header(head, b"idempotency-key")
        if key is None or not head.startswith(b"POST /v1/messages "):
            return _written("404 Not Found", "", {})
        known = self.messages.get(key)
        if known is None:
            message = {"id": f"message-{len(self.messages) + 1}", "status": "queued"}
            known = self.messages[key] = _written("202 Accepted", _TRACE, message)
        return known


def _header(head: bytes, name: bytes) -> bytes | None:
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.lower() == name:
            return value.strip()
    return None


def _written(status: str, headers: str, body: object) -> bytes:
    data = json.dumps(body, separators=(",", ":"))
    length = len(data)
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n"
    return f"{head}{headers}\r\n{data}".encode()


_RECORD = _written(
    "200 OK",
    f'{_TRACE}etag: "3"\r\nlink: {_RECORD_LINK}\r\n',
    {
        "recordId": "a-1",
        "collection": "applications",
        "entity": "application",
        "revision": 3,
        "createdAt": "2026-01-15T08:00:00Z",
        "updatedAt": "2026-02-01T10:30:00Z",
        "data": {
            "domainData": {
                "applicant": "Ada Example",
                "email": "ada@example.org",
                "municipality": "Exampletown",
                "category": "building-permit",
                "status": "submitted",
                "areaSquareMetres": 184,
            }
        },
    },
)


async def serve(port: int) -> None:
    """Answer on a loopback port until SIGTERM."""
    loop = asyncio.get_running_loop()
    messages: dict[bytes, bytes] = {}
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    server = await loop.create_server(lambda: Product(messages), "127.0.0.1", port, backlog=2_048)
    async with server:
        await stop.wait()


def main() -> None:
    """Serve on the port that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    asyncio.run(serve(parser.parse_args().port))


if __name__ == "__main__":
    main()
