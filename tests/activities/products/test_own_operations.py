"""Operations of a deployer's own product, from a document alone, over a raw wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

from activities.catalogue import Catalogue
from activities.products import Sent
from interpreter.contract.effects import Reply, ReplyKind
from tests.activities.catalogue.test_documents import DOCUMENT
from tests.activities.conftest import Caller, caller_of
from tests.activities.connections import FixedConnections
from tests.activities.wire import Answer, Wire, hang_up, reply, wire_server

_READ, _OPEN = "crm.read-customer/v1", "crm.open-ticket/v1"
_TICKET = {"customer": "C 1/ü", "text": "broken"}
_CATALOGUE = Catalogue.with_documents({"crm.yaml": DOCUMENT})


def _caller(url: str, **settings: Any) -> Caller:
    connections = FixedConnections({"crm": {"product": "crm", "baseUrl": url, **settings}})
    return caller_of(connections, _CATALOGUE)


async def _sent(operation: str, input: Any, answer: Answer) -> tuple[Sent, Wire]:
    async with wire_server(answer) as wire:
        caller = _caller(wire.url)
        sent = await caller.send(operation, input)
        await caller.products.aclose()
    return sent, wire


def _problem(code: str, status: int, **members: Any) -> bytes:
    document = {"type": f"https://x.example/{code}", "title": "t", "status": status, **members}
    return json.dumps(document).encode()


async def test_members_are_encoded_into_path_and_query() -> None:
    sent, wire = await _sent(_READ, {"customer": "C 1/ü?#", "detail": "long"}, reply(200))
    assert sent.reply == Reply(ReplyKind.ACCEPTED, {})
    assert wire.heads[0].startswith("GET /customers/C%201%2F%C3%BC%3F%23?detail=long HTTP/1.1")


@pytest.mark.parametrize("customer", ["", ".", ".."])
async def test_a_member_can_not_change_the_path(customer: str) -> None:
    sent, wire = await _sent(_READ, {"customer": customer}, reply(200))
    assert sent.reply == Reply(ReplyKind.REFUSED, code="invalid-command")
    assert wire.heads == []


async def test_the_key_travels_under_the_products_own_header() -> None:
    sent, wire = await _sent(_OPEN, _TICKET, reply(201, b'{"ticket": 7}'))
    assert sent.reply.output == sent.receipt == {"ticket": 7}
    assert "\r\nX-Request-Id: key-1\r\n" in wire.heads[0]
    assert wire.bodies == ['{"customer":"C 1/ü","text":"broken"}'.encode()]


_BARE: list[tuple[str, int, ReplyKind, str]] = [
    (_READ, 404, ReplyKind.REFUSED, "invalid-response"),
    (_READ, 400, ReplyKind.REFUSED, "invalid-response"),
    (_READ, 408, ReplyKind.RETRYABLE, "transport-unavailable"),
    (_READ, 429, ReplyKind.RETRYABLE, "rate-limited"),
    (_READ, 500, ReplyKind.RETRYABLE, "transport-unavailable"),
    (_READ, 301, ReplyKind.REFUSED, "invalid-response"),
    (_READ, 204, ReplyKind.REFUSED, "invalid-response"),
    (_OPEN, 422, ReplyKind.REFUSED, "ticket-invalid"),
    (_OPEN, 400, ReplyKind.UNKNOWN, "transport-uncertain"),
    (_OPEN, 401, ReplyKind.UNKNOWN, "transport-uncertain"),
    (_OPEN, 408, ReplyKind.UNKNOWN, "transport-uncertain"),
    (_OPEN, 409, ReplyKind.UNKNOWN, "transport-uncertain"),
    (_OPEN, 410, ReplyKind.UNKNOWN, "transport-uncertain"),
    (_OPEN, 429, ReplyKind.UNKNOWN, "transport-uncertain"),
    (_OPEN, 503, ReplyKind.UNKNOWN, "transport-uncertain"),
    (_OPEN, 302, ReplyKind.UNKNOWN, "transport-uncertain"),
    (_OPEN, 200, ReplyKind.UNKNOWN, "transport-uncertain"),
]


@pytest.mark.parametrize(("operation", "status", "kind", "code"), _BARE)
async def test_a_status_without_a_problem_document_proves_little(
    operation: str, status: int, kind: ReplyKind, code: str
) -> None:
    input = {"customer": "C"} if operation == _READ else _TICKET
    body = b"" if status == 204 else b"<html>"
    sent, _ = await _sent(operation, input, reply(status, body, "text/html"))
    assert sent.reply == Reply(kind, code=code)


_PROBLEMS: list[tuple[str, int, str, ReplyKind, str]] = [
    (_READ, 401, "no-token", ReplyKind.REFUSED, "product-forbidden"),
    (_READ, 404, "absent", ReplyKind.REFUSED, "product-not-found"),
    (_READ, 409, "conflict", ReplyKind.REFUSED, "product-refused"),
    (_OPEN, 409, "customer-blocked", ReplyKind.DECLARED_REFUSAL, "customer-blocked"),
    (_OPEN, 422, "customer-blocked", ReplyKind.REFUSED, "ticket-invalid"),
    (_OPEN, 410, "idempotency-expired", ReplyKind.RECEIPT_EXPIRED, "receipt-expired"),
    (_OPEN, 410, "gone", ReplyKind.REFUSED, "product-refused"),
    (_OPEN, 403, "forbidden", ReplyKind.REFUSED, "product-forbidden"),
    (_OPEN, 404, "absent", ReplyKind.REFUSED, "product-not-found"),
    (_OPEN, 429, "slow-down", ReplyKind.RETRYABLE, "rate-limited"),
    (_OPEN, 400, "bad", ReplyKind.REFUSED, "product-refused"),
    (_OPEN, 408, "slow", ReplyKind.UNKNOWN, "transport-uncertain"),
    (_OPEN, 500, "broken", ReplyKind.UNKNOWN, "transport-uncertain"),
]


@pytest.mark.parametrize(("operation", "status", "problem", "kind", "code"), _PROBLEMS)
async def test_a_problem_document_proves_that_nothing_was_applied(
    operation: str, status: int, problem: str, kind: ReplyKind, code: str
) -> None:
    input = {"customer": "C"} if operation == _READ else _TICKET
    answer = reply(status, _problem(problem, status), "application/problem+json")
    sent, _ = await _sent(operation, input, answer)
    assert sent.reply == Reply(kind, code=code)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b'{"ticket": 1', "application/json"),
        (b'{"ticket": 1, "ticket": 2}', "application/json"),
        (b'{"ticket": 1}', "text/plain"),
        (b'{"ticket": NaN}', "application/json"),
        (b'{"other": 1}', "application/json"),
        (b"[" * 40 + b"]" * 40, "application/json"),
        (b"", "application/json"),
    ],
)
async def test_a_success_that_can_not_be_read_is_unknown(body: bytes, content_type: str) -> None:
    sent, _ = await _sent(_OPEN, _TICKET, reply(201, body, content_type))
    assert sent.reply == Reply(ReplyKind.UNKNOWN, code="transport-uncertain")


async def test_a_compressed_answer_was_not_asked_for() -> None:
    answer = reply(201, b'{"ticket": 1}', headers={"content-encoding": "gzip"})
    sent, _ = await _sent(_OPEN, _TICKET, answer)
    assert sent.place == "response header content-encoding"


async def test_the_place_of_a_misfit_names_a_member_and_no_value() -> None:
    sent, _ = await _sent(_READ, {"customer": "C"}, reply(200, b'["secret"]'))
    assert (sent.reply.code, sent.place) == ("invalid-response", "response /")


async def test_a_receipt_is_read_with_the_same_key_and_body() -> None:
    async with wire_server(reply(200, b'{"ticket": 7}')) as wire:
        caller = _caller(wire.url)
        command = await caller.command(_OPEN, _TICKET)
        found = await caller.products.read_receipt(command, caller.contract(_OPEN), "key-9")
        await caller.products.aclose()
    assert found == Reply(ReplyKind.ACCEPTED, {"ticket": 7})
    assert wire.heads[0].startswith("POST /tickets/receipt HTTP/1.1")
    assert "\r\nX-Request-Id: key-9\r\n" in wire.heads[0]
    assert wire.bodies == ['{"customer":"C 1/ü","text":"broken"}'.encode()]


async def test_the_products_own_word_for_no_receipt_is_understood() -> None:
    answer = reply(404, _problem("unknown-request", 404), "application/problem+json")
    async with wire_server(answer) as wire:
        caller = _caller(wire.url)
        command = await caller.command(_OPEN, _TICKET)
        found = await caller.products.read_receipt(command, caller.contract(_OPEN), "key-9")
    assert found == Reply(ReplyKind.UNKNOWN, code="receipt-unresolved")


async def test_nothing_is_sent_twice() -> None:
    sent, wire = await _sent(_OPEN, _TICKET, hang_up)
    assert sent.reply.kind is ReplyKind.UNKNOWN
    assert len(wire.heads) == 1


async def test_a_connections_own_limits_hold() -> None:
    async with wire_server(reply(200, b'{"a": "0123456789"}')) as wire:
        caller = _caller(wire.url, maximumResponseBytes=10)
        sent = await caller.send(_READ, {"customer": "C"})
        await caller.products.aclose()
    assert sent.place == "response body: too large"
