"""Connections to the service on real sockets: slow heads, no HTTP at all, and ordinary requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
import uvicorn

from adapter.wiring.connections import PromptConnection


async def app(scope: object, receive: object, send: object) -> None:
    """Takes a moment, then answers; longer than a head may take in these tests."""
    await asyncio.sleep(0.5)
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})  # type: ignore[operator]
    await send({"type": "http.response.body", "body": b"ok"})  # type: ignore[operator]


@pytest.fixture
async def port(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    """A server whose connections have 0.3 seconds for each head."""
    monkeypatch.setattr("adapter.wiring.connections.HEAD_SECONDS", 0.3)
    config = uvicorn.Config(app, port=0, log_config=None, http=PromptConnection, lifespan="off")
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    await task


GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", b"GET", b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "])
async def test_a_head_that_does_not_come_ends_the_connection(port: int, sent: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    assert await asyncio.wait_for(reader.read(), 5) == b""
    writer.close()


async def test_a_head_that_drips_ends_the_connection(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    ending = asyncio.create_task(reader.read())
    for letter in GET[:20]:
        if ending.done():
            break
        writer.write(bytes([letter]))
        await asyncio.sleep(0.05)
    assert ending.done()
    writer.close()


async def test_a_request_may_take_longer_and_the_next_one_too(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for sent in (GET, GET + GET, b""):
        writer.write(sent)
        if sent:
            assert (await asyncio.wait_for(reader.readuntil(b"ok"), 5)).startswith(b"HTTP/1.1 200")
    assert (await asyncio.wait_for(reader.readuntil(b"ok"), 5)).startswith(b"HTTP/1.1 200")
    # Nothing more is asked, so it ends like one that says nothing.
    assert await asyncio.wait_for(reader.read(), 5) == b""
    writer.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 70_000,
        b"GET / HTTP/1.1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n",
    ],
)
async def test_what_is_no_request_is_refused_like_everything_else(port: int, sent: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    answer = await asyncio.wait_for(reader.read(), 5)
    writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    for header in (b"cache-control: no-store", b"coordinator-api: 1", b"connection: close"):
        assert header in head.lower()
    assert json.loads(body)["code"] == "request.invalid"
