"""Mutual TLS on real sockets: the product learns who calls, and it is believed by its authority."""

from __future__ import annotations

import asyncio
import json
import ssl
from pathlib import Path
from typing import Any

import pytest

from activities.credentials import Anonymous, ClientCredentials, ClientTls, Secret
from interpreter.contract.effects import Reply, ReplyKind
from tests.activities.certificates import Authority
from tests.activities.conftest import Caller, caller_of
from tests.activities.connections import FixedConnections
from tests.activities.inputs import MESSAGE
from tests.activities.issuers import SIGNING_JWK, reader
from tests.activities.wire import Wire, reply, wire_server

_SEND = "messaging.submit-message/v1"
_SERVERS, _CLIENTS = Authority("servers"), Authority("clients")
_ACCEPTED = json.dumps({"id": "m-1", "status": "accepted"}).encode()


def _tls(authority: Authority = _CLIENTS, trusted: Authority = _SERVERS) -> ClientTls:
    pair = authority.issue("coordinator")
    return ClientTls(Secret(pair.certificate), Secret(pair.key), Secret(trusted.pem))


def _caller(wire: Wire, tls: ClientTls | None, host: str = "127.0.0.1") -> Caller:
    url = f"https://{host}:{wire.port}"
    connections = FixedConnections({"messaging": {"product": "messaging", "baseUrl": url}})
    connections.others["messaging"] = Anonymous()
    if tls is not None:
        connections.certificates["messaging"] = tls
    return caller_of(connections)


@pytest.fixture
def wanting(tmp_path: Path) -> ssl.SSLContext:
    """A server that takes nobody without a certificate of the clients' authority."""
    return _SERVERS.server(tmp_path, client_of=_CLIENTS)


async def test_a_client_certificate_opens_the_product(wanting: ssl.SSLContext) -> None:
    async with wire_server(reply(202, _ACCEPTED), wanting) as wire:
        caller = _caller(wire, _tls())
        sent = await caller.send(_SEND, MESSAGE)
        await caller.products.aclose()
    assert sent.reply.kind is ReplyKind.ACCEPTED
    assert "authorization" not in wire.heads[0].lower()


@pytest.mark.parametrize("tls", [_tls(Authority("strangers")), _tls(trusted=_CLIENTS)])
async def test_a_certificate_that_is_not_taken_was_certainly_not_sent_to(
    wanting: ssl.SSLContext, tls: ClientTls
) -> None:
    async with wire_server(reply(202, _ACCEPTED), wanting) as wire:
        caller = _caller(wire, tls)
        sent = await caller.send(_SEND, MESSAGE, seconds=3)
        await caller.products.aclose()
    assert sent.reply == Reply(ReplyKind.RETRYABLE, code="transport-unavailable")
    assert wire.heads == []


async def test_a_product_that_gives_no_ticket_is_called_after_a_while(
    wanting: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.products.streams.CONFIRMATION_SECONDS", 0.05)
    wanting.num_tickets = 0
    async with wire_server(reply(202, _ACCEPTED), wanting) as wire:
        caller = _caller(wire, _tls())
        sent = await caller.send(_SEND, MESSAGE)
        await caller.products.aclose()
    assert sent.reply.kind is ReplyKind.ACCEPTED


async def test_an_older_tls_decides_before_anything_is_written(wanting: ssl.SSLContext) -> None:
    wanting.maximum_version = ssl.TLSVersion.TLSv1_2
    async with wire_server(reply(202, _ACCEPTED), wanting) as wire:
        refused, accepted = _caller(wire, _tls(Authority("strangers"))), _caller(wire, _tls())
        replies = [(await one.send(_SEND, MESSAGE)).reply.kind for one in (refused, accepted)]
        await accepted.products.aclose()
    assert replies == [ReplyKind.RETRYABLE, ReplyKind.ACCEPTED]


async def test_a_product_that_wants_a_certificate_gets_nothing_without(
    wanting: ssl.SSLContext,
) -> None:
    async with wire_server(reply(202, _ACCEPTED), wanting) as wire:
        caller = _caller(wire, ClientTls(authorities=Secret(_SERVERS.pem)))
        caller.connections.others["messaging"] = Anonymous(public=True)
        sent = await caller.send(_SEND, MESSAGE, seconds=3)
        await caller.products.aclose()
    assert sent.reply.kind is not ReplyKind.ACCEPTED
    assert wire.heads == []


async def test_a_certificate_that_was_rotated_counts_at_the_next_attempt(
    wanting: ssl.SSLContext,
) -> None:
    async with wire_server(reply(202, _ACCEPTED), wanting) as wire:
        caller = _caller(wire, _tls(Authority("strangers")))
        refused = await caller.send(_SEND, MESSAGE, seconds=3)
        caller.connections.certificates["messaging"] = _tls()
        accepted = await caller.send(_SEND, MESSAGE)
        await caller.products.aclose()
    assert refused.reply.kind is not ReplyKind.ACCEPTED
    assert accepted.reply.kind is ReplyKind.ACCEPTED


async def test_a_token_is_fetched_with_the_certificate_too(wanting: ssl.SSLContext) -> None:
    token = json.dumps({"access_token": "t-1", "token_type": "Bearer"}).encode()
    async with (
        wire_server(reply(200, token), wanting) as issuer,
        wire_server(reply(202, _ACCEPTED), wanting) as wire,
    ):
        caller = _caller(wire, _tls())
        endpoint = f"https://127.0.0.1:{issuer.port}/token"
        caller.connections.others["messaging"] = ClientCredentials(
            "messaging", endpoint, "worker", "urn:m", ("send",), reader(json.dumps(SIGNING_JWK))
        )
        sent = await caller.send(_SEND, MESSAGE)
        await caller.products.aclose()
    assert sent.reply.kind is ReplyKind.ACCEPTED
    assert "authorization: bearer t-1" in wire.heads[0].lower()


async def test_a_certificate_against_rfc_5280_is_taken_on_no_python(tmp_path: Path) -> None:
    careless = Authority("careless", careless=True)
    async with wire_server(reply(202, _ACCEPTED), careless.server(tmp_path)) as wire:
        caller = _caller(wire, ClientTls(authorities=Secret(careless.pem)))
        caller.connections.others["messaging"] = Anonymous(public=True)
        sent = await caller.send(_SEND, MESSAGE, seconds=3)
        await caller.products.aclose()
    assert sent.reply == Reply(ReplyKind.RETRYABLE, code="transport-unavailable")


async def test_without_any_identity_nothing_leaves_this_machine() -> None:
    connections = FixedConnections(
        {"messaging": {"product": "messaging", "baseUrl": "https://messaging.example"}}
    )
    connections.others["messaging"] = Anonymous()
    sent = await caller_of(connections).send(_SEND, MESSAGE)
    assert sent.reply == Reply(ReplyKind.REFUSED, code="operation-unbound")
    assert sent.place == "messaging"


@pytest.mark.parametrize(
    "changes",
    [
        {"certificate": Secret("no certificate")},
        {"key": Secret(_CLIENTS.issue("another").key)},
        {"authorities": Secret("no authority")},
    ],
)
async def test_texts_that_are_no_certificates_are_the_deployments_fault(
    changes: dict[str, Any],
) -> None:
    pair = _CLIENTS.issue("coordinator")
    texts: dict[str, Any] = {
        "certificate": Secret(pair.certificate),
        "key": Secret(pair.key),
        "authorities": Secret(_SERVERS.pem),
    }
    caller = _caller(Wire(port=1), ClientTls(**texts | changes))
    sent = await caller.send(_SEND, MESSAGE)
    assert sent.reply == Reply(ReplyKind.REFUSED, code="credential-configuration")


async def test_a_replaced_certificate_leaves_no_connection_behind(
    wanting: ssl.SSLContext,
) -> None:
    async with wire_server(reply(202, _ACCEPTED), wanting) as wire:
        caller = _caller(wire, _tls())
        for _ in range(5):
            await caller.send(_SEND, MESSAGE)
            caller.connections.certificates["messaging"] = _tls()
        async with asyncio.timeout(5):
            while wire.open > 1:
                await asyncio.sleep(0.01)
        await caller.products.aclose()
    assert wire.connections == 5
