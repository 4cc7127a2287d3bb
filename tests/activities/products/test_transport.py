"""What is certain after an exchange over a real socket, and what is not."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time

import pytest

from activities.destinations import Destination, destination_of
from activities.products.transport import Failure, HttpAnswer, HttpRequest, Transport
from tests.activities.wire import hang_up, raw, reply, silence, wire_server

_GET = HttpRequest("GET", "/v1/thing", (("Accept", "application/json"),))
_POST = HttpRequest("POST", "/v1/thing", (("Content-Type", "application/json"),), b'{"a":1}')


def _transport(url: str) -> Transport:
    return Transport(destination_of(url, "crm"), ssl.create_default_context())


async def _exchange(
    url: str, request: HttpRequest = _GET, seconds: float = 2
) -> HttpAnswer | Failure:
    transport = _transport(url)
    try:
        return await transport.exchange(request, seconds, 1_000)
    finally:
        await transport.aclose()


def _free_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


async def test_an_answer_comes_whole_with_status_headers_and_body() -> None:
    async with wire_server(reply(201, b'{"id":1}')) as wire:
        answer = await _exchange(wire.url, _POST)
    assert isinstance(answer, HttpAnswer)
    assert (answer.status, answer.body) == (201, b'{"id":1}')
    assert answer.header(b"content-type") == "application/json"
    assert wire.bodies == [b'{"a":1}']


async def test_the_request_carries_only_what_it_was_given() -> None:
    async with wire_server(reply()) as wire:
        await _exchange(f"{wire.url}/prefix/")
    assert wire.heads[0].split("\r\n") == [
        "GET /prefix/v1/thing HTTP/1.1",
        f"Host: 127.0.0.1:{wire.port}",
        "Accept: application/json",
        "",
        "",
    ]


async def test_a_refused_connection_was_not_sent() -> None:
    assert await _exchange(f"http://127.0.0.1:{_free_port()}") is Failure.NOT_SENT


async def test_a_name_without_an_address_was_not_sent() -> None:
    destination = Destination(True, "nothing.invalid", 443, "")
    transport = Transport(destination, ssl.create_default_context())
    assert await transport.exchange(_POST, 2, 1_000) is Failure.NOT_SENT


async def test_a_connection_that_never_opens_was_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("activities.products.transport.CONNECT_SECONDS", 0.1)
    listener = socket.create_server(("127.0.0.1", 0), backlog=0)
    waiting = [socket.socket() for _ in range(4)]
    for one in waiting:
        one.setblocking(False)
        one.connect_ex(listener.getsockname())
    try:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        assert await _exchange(url, _POST, seconds=1) is Failure.NOT_SENT
    finally:
        for one in (*waiting, listener):
            one.close()


async def test_a_failed_tls_handshake_was_not_sent() -> None:
    async with wire_server(reply()) as wire:
        destination = Destination(True, "127.0.0.1", wire.port, "")
        transport = Transport(destination, ssl.create_default_context())
        assert await transport.exchange(_POST, 2, 1_000) is Failure.NOT_SENT
    assert wire.heads == []


async def test_no_answer_in_time_may_have_been_sent() -> None:
    async with wire_server(silence) as wire:
        began = time.monotonic()
        assert await _exchange(wire.url, _POST, seconds=0.2) is Failure.LOST
    assert time.monotonic() - began < 1
    assert len(wire.heads) == 1


async def test_a_connection_closed_without_an_answer_may_have_been_sent() -> None:
    async with wire_server(hang_up) as wire:
        assert await _exchange(wire.url, _POST) is Failure.LOST
    assert len(wire.heads) == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-le",
        b"this is not HTTP\r\n\r\n",
    ],
)
async def test_a_broken_answer_may_have_been_sent(answer: bytes) -> None:
    async with wire_server(raw(answer)) as wire:
        assert await _exchange(wire.url, _POST) is Failure.LOST


async def test_an_answer_that_drips_is_bounded_as_a_whole() -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n")
        for _ in range(100):
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.05)

    async with wire_server(drip) as wire:
        assert await _exchange(wire.url, seconds=0.3) is Failure.LOST


async def test_an_answer_over_the_limit_has_no_body_and_is_not_read_on() -> None:
    async with wire_server(reply(200, b"x" * 1_001)) as wire:
        answer = await _exchange(wire.url)
    assert isinstance(answer, HttpAnswer)
    assert (answer.status, answer.body) == (200, None)


async def test_an_answer_at_the_limit_is_whole() -> None:
    async with wire_server(reply(200, b"x" * 1_000)) as wire:
        answer = await _exchange(wire.url)
    assert isinstance(answer, HttpAnswer)
    assert answer.body == b"x" * 1_000


async def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    async with wire_server(reply(307, headers={"location": "/elsewhere"})) as wire:
        answer = await _exchange(wire.url)
    assert isinstance(answer, HttpAnswer)
    assert (answer.status, len(wire.heads)) == (307, 1)


async def test_requests_one_after_the_other_share_a_connection() -> None:
    async with wire_server(reply()) as wire:
        transport = _transport(wire.url)
        for _ in range(3):
            assert isinstance(await transport.exchange(_GET, 2, 1_000), HttpAnswer)
        await transport.aclose()
    assert (wire.connections, len(wire.heads)) == (1, 3)


async def test_a_connection_that_the_product_closed_is_not_used_again() -> None:
    async with wire_server(raw(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")) as wire:
        transport = _transport(wire.url)
        for _ in range(2):
            assert isinstance(await transport.exchange(_POST, 2, 1_000), HttpAnswer)
            await asyncio.sleep(0.02)
        await transport.aclose()
    assert wire.connections == 2


async def test_an_answer_that_nobody_asked_for_is_no_answer_to_the_next_request() -> None:
    answer = b"HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n{}"
    async with wire_server(raw(answer + answer, close=False)) as wire:
        transport = _transport(wire.url)
        for _ in range(2):
            assert isinstance(await transport.exchange(_POST, 2, 1_000), HttpAnswer)
        await transport.aclose()
    assert (wire.connections, len(wire.heads)) == (2, 2)


async def test_an_idle_connection_is_dropped_before_servers_drop_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("activities.products.transport.KEEP_ALIVE_SECONDS", 0.05)
    async with wire_server(reply()) as wire:
        transport = _transport(wire.url)
        for _ in range(2):
            assert isinstance(await transport.exchange(_GET, 2, 1_000), HttpAnswer)
            await asyncio.sleep(0.1)
        await transport.aclose()
    assert wire.connections == 2


async def test_waiting_for_a_free_connection_was_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("activities.products.transport.MOST_CONNECTIONS", 1)
    async with wire_server(silence) as wire:
        transport = _transport(wire.url)
        first = asyncio.create_task(transport.exchange(_POST, 0.5, 1_000))
        await asyncio.sleep(0.05)
        assert await transport.exchange(_POST, 0.1, 1_000) is Failure.NOT_SENT
        assert await first is Failure.LOST
    assert len(wire.heads) == 1


async def test_a_cancelled_exchange_closes_its_connection() -> None:
    async with wire_server(silence) as wire:
        transport = _transport(wire.url)
        task = asyncio.create_task(transport.exchange(_POST, 5, 1_000))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await transport.exchange(_GET, 0.1, 1_000) is Failure.LOST
    assert wire.connections == 2


async def test_many_exchanges_at_once_do_not_meet() -> None:
    async with wire_server(reply()) as wire:
        transport = _transport(wire.url)
        answers = await asyncio.gather(*(transport.exchange(_GET, 2, 1_000) for _ in range(40)))
        await transport.aclose()
    assert all(isinstance(answer, HttpAnswer) and answer.body == b"{}" for answer in answers)
    assert wire.connections == 40


async def test_a_large_request_reaches_a_slow_reader_whole() -> None:
    body = b"x" * 65_536
    async with wire_server(reply()) as wire:
        request = HttpRequest("POST", "/", (), body)
        assert isinstance(await _exchange(wire.url, request), HttpAnswer)
    assert wire.bodies == [body]


async def test_proxies_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{_free_port()}")
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{_free_port()}")
    async with wire_server(reply()) as wire:
        assert isinstance(await _exchange(wire.url), HttpAnswer)
