"""Pretend Messaging: accepting a message and proving it by its receipt."""

from __future__ import annotations

import httpx
import pytest

from examples.products.client import PretendProducts

KEY = {"idempotency-key": "key-1"}
MESSAGE = {
    "senderProfile": "licensing",
    "to": {"email": "maya@example.org"},
    "template": {"id": "review-outcome", "version": "1"},
    "data": {"decision": "approved"},
}


def submit(caller: httpx.Client, **more: object) -> httpx.Response:
    return caller.post("/messaging/v1/messages", json={**MESSAGE, **more}, headers=KEY)


def receipt(caller: httpx.Client, **more: object) -> httpx.Response:
    path = "/messaging/v1/messages/receipt"
    return caller.post(path, json={**MESSAGE, **more}, headers=KEY)


def test_a_message_is_accepted_with_a_receipt(caller: httpx.Client) -> None:
    answer = submit(caller)
    assert answer.status_code == 202
    assert answer.json()["status"] == "accepted"
    assert answer.json()["id"]


def test_the_receipt_is_that_of_the_same_key_and_body(caller: httpx.Client) -> None:
    sent = submit(caller)
    read = receipt(caller)
    assert (read.status_code, read.json()) == (200, sent.json())


def test_an_unknown_receipt_is_unresolved(caller: httpx.Client) -> None:
    answer = receipt(caller)
    assert (answer.status_code, answer.json()["code"]) == (404, "receipt-unresolved")


def test_a_receipt_with_another_body_is_a_conflict(caller: httpx.Client) -> None:
    submit(caller)
    answer = receipt(caller, locale="de")
    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency-conflict")


def test_after_the_window_key_and_receipt_are_expired(
    caller: httpx.Client, products: PretendProducts
) -> None:
    submit(caller)
    products.expire_keys("messaging.submit-message/v1")
    for answer in (submit(caller), receipt(caller)):
        assert (answer.status_code, answer.json()["code"]) == (410, "idempotency-expired")
    assert [effect.applied for effect in products.effects()] == [1]


def test_a_forgotten_key_shows_a_repeated_command_as_applied_twice(
    caller: httpx.Client, products: PretendProducts
) -> None:
    submit(caller)
    products.forget_keys()
    submit(caller)
    assert [effect.applied for effect in products.effects()] == [2]


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"to": {"email": "x@suppressed.example"}}, 409, "recipient-suppressed"),
        ({"template": {"id": "unknown-x", "version": 1}}, 404, "template-not-found"),
        ({"locale": "zz"}, 404, "locale-unavailable"),
        ({"extra": 1}, 422, "message-invalid"),
        ({"to": {"email": "a@b.example", "phone": "1"}}, 422, "message-invalid"),
        ({"template": None}, 422, "message-invalid"),
        ({"notBefore": "tomorrow"}, 422, "message-invalid"),
        ({"expiresAt": "2020-01-01T00:00:00Z"}, 409, "message-expired"),
    ],
)
def test_a_refused_message_has_no_effect(
    caller: httpx.Client,
    products: PretendProducts,
    change: dict[str, object],
    status: int,
    code: str,
) -> None:
    answer = submit(caller, **change)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert products.effects() == []


def test_a_message_for_later_is_scheduled(caller: httpx.Client) -> None:
    assert submit(caller, notBefore="2099-01-01T00:00:00Z").json()["status"] == "scheduled"


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"{", 400, "request-invalid"),
        (b"[]", 400, "request-invalid"),
        (b'{"a": 1, "a": 2}', 400, "request-invalid"),
        (b'{"a": NaN}', 400, "request-invalid"),
        (b"[" * 60_000, 400, "request-invalid"),
        (b'{"a": "' + b"x" * 70_000 + b'"}', 413, "request-too-large"),
    ],
)
def test_a_body_that_is_no_proper_object_is_refused(
    caller: httpx.Client, content: bytes, status: int, code: str
) -> None:
    headers = {**KEY, "content-type": "application/json"}
    answer = caller.post("/messaging/v1/messages", content=content, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
