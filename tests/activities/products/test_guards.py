"""What the transport withstands: names that change their mind, and answers without an end."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import time
from pathlib import Path
from typing import Any

import pytest

from activities.credentials import trusting
from activities.destinations import Destination, destination_of
from activities.products.transport import Failure, HttpAnswer, HttpRequest, Transport
from interpreter.contract.effects import Reply, ReplyKind
from tests.activities.certificates import Authority
from tests.activities.conftest import Caller
from tests.activities.wire import reply, wire_server

_POST = HttpRequest("POST", "/", (), b"{}")
_NAME = "product.example"
_AUTHORITY = Authority()


class _Names:
    """Resolves every name to one address after the other, the last one for ever."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
        self._left = list(addresses)
        self.asked = 0
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", self._resolve)

    async def _resolve(self, _host: str, port: int, **_: Any) -> list[Any]:
        self.asked += 1
        address = self._left.pop(0) if len(self._left) > 1 else self._left[0]
        return [(2, 1, 6, "", (address, port))]


def _trust() -> ssl.SSLContext:
    return trusting(_AUTHORITY.pem)


async def test_the_address_that_was_checked_is_the_one_that_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = _AUTHORITY.server(tmp_path, name=_NAME)
    asked: list[str | None] = []
    context.sni_callback = lambda _socket, name, _context: asked.append(name)
    async with wire_server(reply(), context) as wire:
        names = _Names(monkeypatch, "127.0.0.1", "169.254.169.254")
        transport = Transport(Destination(True, _NAME, wire.port, ""), _trust())
        assert isinstance(await transport.exchange(_POST, 2, 1_000), HttpAnswer)
        await transport.aclose()
    assert names.asked == 1
    assert asked == [_NAME]
    assert f"host: {_NAME}:{wire.port}" in wire.heads[0].lower()


async def test_a_new_connection_looks_at_the_name_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with wire_server(reply(), _AUTHORITY.server(tmp_path, name=_NAME)) as wire:
        _Names(monkeypatch, "127.0.0.1", "169.254.169.254")
        transport = Transport(Destination(True, _NAME, wire.port, ""), _trust())
        assert isinstance(await transport.exchange(_POST, 2, 1_000), HttpAnswer)
        await transport.aclose()
        assert await transport.exchange(_POST, 2, 1_000) is Failure.DESTINATION


async def test_a_certificate_of_another_product_at_the_address_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with wire_server(reply(), _AUTHORITY.server(tmp_path, name="other.example")) as wire:
        _Names(monkeypatch, "127.0.0.1")
        transport = Transport(Destination(True, _NAME, wire.port, ""), _trust())
        assert await transport.exchange(_POST, 2, 1_000) is Failure.NOT_SENT
    assert wire.heads == []


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\n" + b"x-y: " + b"z" * 200_000,
        b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 50_000,
    ],
)
async def test_headers_without_an_end_are_not_read_on(head: bytes) -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        await writer.drain()
        await asyncio.sleep(30)

    async with wire_server(endless) as wire:
        transport = Transport(destination_of(wire.url, "crm"), None)
        begun = time.monotonic()
        assert await transport.exchange(_POST, 10, 1_000) is Failure.LOST
    assert time.monotonic() - begun < 5


async def test_a_compressed_answer_is_not_opened(caller: Caller) -> None:
    bomb = gzip.compress(b" " * 10_000_000)
    assert len(bomb) < 65_536
    async with wire_server(reply(200, bomb, headers={"content-encoding": "gzip"})) as wire:
        external = caller.connections.connections["external"]
        caller.connections.connections["external"] = external | {"baseUrl": wire.url}
        sent = await caller.send("external.get/v1", {"path": "offices"})
    assert sent.reply == Reply(ReplyKind.REFUSED, code="external-invalid-response")
    assert sent.place == "response header content-encoding"
    assert "accept-encoding" not in wire.heads[0].lower()
