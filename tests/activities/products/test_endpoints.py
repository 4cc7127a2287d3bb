"""Token endpoints on real sockets: the same guarded transport as calls, within the attempt."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable

import pytest

from activities.credentials import ClientCredentials
from examples.products.client import PretendProducts
from interpreter.contract.effects import Reply, ReplyKind
from tests.activities.conftest import Caller
from tests.activities.inputs import MESSAGE
from tests.activities.issuers import SIGNING_JWK, reader
from tests.activities.wire import Answer, reply, wire_server

_SEND = "messaging.submit-message/v1"
_GET = "external.get/v1"
_TOKEN = json.dumps({"access_token": "pretend-products", "token_type": "Bearer"}).encode()
_UNAVAILABLE = Reply(ReplyKind.RETRYABLE, code="credential-unavailable")
_REFUSED = Reply(ReplyKind.REFUSED, code="credential-refused")


def _client(caller: Caller, endpoint: str, connection: str = "messaging") -> None:
    caller.connections.others[connection] = ClientCredentials(
        connection, endpoint, "worker", "urn:m", ("send",), reader(json.dumps(SIGNING_JWK))
    )


async def test_a_token_is_fetched_for_every_attempt(
    caller: Caller, products: PretendProducts
) -> None:
    async with wire_server(reply(200, _TOKEN)) as issuer:
        _client(caller, f"{issuer.url}/realm/token/")
        for _ in range(2):
            assert (await caller.send(_SEND, MESSAGE)).reply.kind is ReplyKind.ACCEPTED
    assert len(issuer.bodies) == 2
    assert issuer.heads[0].startswith("POST /realm/token/ HTTP/1.1")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda: reply(503, b"{}"), _UNAVAILABLE),
        (lambda: reply(429, b"{}"), _UNAVAILABLE),
        (lambda: reply(408, b"{}"), _UNAVAILABLE),
        (lambda: reply(401, b'{"error":"invalid_client"}'), _REFUSED),
        (lambda: reply(307, b"", headers={"location": "http://127.0.0.1:1/"}), _REFUSED),
        (lambda: reply(200, b'{"access_token":"' + b"x" * 70_000 + b'"}'), _REFUSED),
    ],
)
async def test_an_issuer_that_gives_no_token_keeps_the_call_from_being_sent(
    caller: Caller, products: PretendProducts, answer: Callable[[], Answer], expected: Reply
) -> None:
    async with wire_server(answer()) as issuer:
        _client(caller, f"{issuer.url}/token")
        sent = await caller.send(_SEND, MESSAGE)
    assert sent.reply == expected
    assert products.requests() == []
    assert issuer.connections == 1


async def test_an_issuer_that_is_not_there_is_asked_again(
    caller: Caller, products: PretendProducts
) -> None:
    _client(caller, "http://127.0.0.1:1/token")
    assert (await caller.send(_SEND, MESSAGE)).reply == _UNAVAILABLE
    assert products.requests() == []


async def test_a_slow_issuer_is_left_at_the_end_of_the_attempt(
    caller: Caller, products: PretendProducts
) -> None:
    async def never(_writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    async with wire_server(never) as issuer:
        _client(caller, f"{issuer.url}/token")
        begun = time.monotonic()
        assert (await caller.send(_SEND, MESSAGE, seconds=0.3)).reply == _UNAVAILABLE
    assert time.monotonic() - begun < 3
    assert products.requests() == []


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://169.254.169.254/token",
        "https://[fd00:ec2::254]/token",
        "https://metadata.google.internal/token",
        "http://issuer.example/token",
    ],
)
async def test_a_token_never_comes_from_an_address_that_may_not_be_called(
    caller: Caller, endpoint: str
) -> None:
    _client(caller, endpoint)
    assert (await caller.send(_SEND, MESSAGE)).reply == _REFUSED


async def test_a_name_that_turns_out_to_be_metadata_is_refused(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def resolved(*_: object, **__: object) -> list[object]:
        return [(0, 0, 0, "", ("169.254.169.254", 443))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolved)
    _client(caller, "https://issuer.example/token")
    assert (await caller.send(_SEND, MESSAGE)).reply == _REFUSED


async def test_a_token_counts_to_the_attempts_own_limit(
    caller: Caller, products: PretendProducts
) -> None:
    async def late(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.4)
        await reply(200, _TOKEN)(writer)

    settings = caller.connections.connections["external"]
    caller.connections.connections["external"] = settings | {"attemptTimeoutMilliseconds": 200}
    async with wire_server(late) as issuer:
        _client(caller, f"{issuer.url}/token", "external")
        sent = await caller.send(_GET, {"path": "offices"})
    assert sent.reply == Reply(ReplyKind.RETRYABLE, code="external-unavailable")
    assert products.requests() == []


async def test_an_issuers_own_delay_is_kept(caller: Caller) -> None:
    async with wire_server(reply(429, b"{}", headers={"retry-after": "7"})) as issuer:
        _client(caller, f"{issuer.url}/token")
        sent = await caller.send(_SEND, MESSAGE)
    assert (sent.reply, sent.retry_after) == (_UNAVAILABLE, 7.0)
