"""Faults on demand: what the caller sees, and whether the effect was applied."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from examples.products.client import ControlRefused, PretendProducts

SUBMIT = "messaging.submit-message"
MESSAGE = {"senderProfile": "x", "to": {"phone": "+43 1"}, "content": "Hello"}


def send(caller: httpx.Client, key: str = "key-1") -> httpx.Response:
    return caller.post("/messaging/v1/messages", json=MESSAGE, headers={"idempotency-key": key})


def applied(products: PretendProducts) -> list[int]:
    return [effect.applied for effect in products.effects()]


def test_a_lost_response_was_applied(caller: httpx.Client, products: PretendProducts) -> None:
    products.fault(SUBMIT, "lost-response")
    with pytest.raises(httpx.RemoteProtocolError):
        send(caller)
    assert applied(products) == [1]
    assert send(caller).headers["idempotency-replayed"] == "true"
    assert applied(products) == [1]


def test_a_connection_dropped_before_was_not_applied(
    caller: httpx.Client, products: PretendProducts
) -> None:
    products.fault(SUBMIT, "drop-before")
    with pytest.raises(httpx.TransportError):
        send(caller)
    assert applied(products) == []
    assert [r.outcome for r in products.requests(SUBMIT)] == ["dropped"]


@pytest.mark.parametrize(
    ("fault", "settings", "status", "code"),
    [
        ("refuse", {}, 409, "recipient-suppressed"),
        ("refuse", {"status": 403, "code": "sender-forbidden"}, 403, "sender-forbidden"),
        ("status-5xx", {}, 503, "unavailable"),
        ("status-5xx", {"status": 500, "code": "handler-failed"}, 500, "handler-failed"),
        ("expired-receipt", {}, 410, "idempotency-expired"),
        ("rate-limited", {"retryAfter": 7}, 429, "rate-limited"),
    ],
)
def test_a_refusing_fault_answers_a_problem_without_effect(
    caller: httpx.Client,
    products: PretendProducts,
    fault: str,
    settings: dict[str, Any],
    status: int,
    code: str,
) -> None:
    products.fault(SUBMIT, fault, **settings)
    answer = send(caller)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json()["traceId"] == answer.headers["traceparent"].split("-")[1]
    assert applied(products) == []


def test_a_rate_limit_says_how_long_to_wait(
    caller: httpx.Client, products: PretendProducts
) -> None:
    products.fault(SUBMIT, "rate-limited", retryAfter=7)
    assert send(caller).headers["retry-after"] == "7"


def test_a_server_error_can_hide_an_applied_effect(
    caller: httpx.Client, products: PretendProducts
) -> None:
    products.fault(SUBMIT, "status-5xx", apply=True)
    assert send(caller).status_code == 503
    assert applied(products) == [1]


@pytest.mark.parametrize("apply", [False, True])
def test_a_slow_answer_works_before_or_after_the_delay(
    caller: httpx.Client, products: PretendProducts, apply: bool
) -> None:
    products.fault(SUBMIT, "slow", seconds=0.6, apply=apply)
    with pytest.raises(httpx.ReadTimeout):
        caller.post(
            "/messaging/v1/messages",
            json=MESSAGE,
            headers={"idempotency-key": "key-1"},
            timeout=0.2,
        )
    assert applied(products) == ([1] if apply else [])
    until = time.monotonic() + 5
    while applied(products) != [1] and time.monotonic() < until:
        time.sleep(0.05)
    assert applied(products) == [1]


def test_a_malformed_answer_keeps_its_status(
    caller: httpx.Client, products: PretendProducts
) -> None:
    products.fault(SUBMIT, "malformed")
    answer = send(caller)
    assert answer.status_code == 202
    with pytest.raises(ValueError, match="Expecting"):
        answer.json()
    assert applied(products) == [1]


def test_an_oversized_answer_is_valid_json(caller: httpx.Client, products: PretendProducts) -> None:
    products.fault(SUBMIT, "oversized")
    answer = send(caller)
    assert len(answer.content) == 70_000
    assert answer.json()["status"] == "accepted"


def test_a_redirect_points_where_it_is_told(
    caller: httpx.Client, products: PretendProducts
) -> None:
    products.fault(SUBMIT, "redirect", location="http://192.0.2.1/")
    answer = send(caller)
    assert (answer.status_code, answer.headers["location"]) == (307, "http://192.0.2.1/")
    assert applied(products) == []


def test_contract_headers_can_go_missing(caller: httpx.Client, products: PretendProducts) -> None:
    products.fault("breg.read-record", "missing-headers")
    path = "/registry/v1/records/applications/APP-1001?accessProfile=reviewer"
    answer = caller.get(path)
    assert answer.status_code == 200
    assert not {"traceparent", "etag", "link"} & set(answer.headers)


def test_a_fault_strikes_as_often_as_it_was_asked_for(
    caller: httpx.Client, products: PretendProducts
) -> None:
    products.fault(SUBMIT, "status-5xx", count=2)
    assert [send(caller).status_code for _ in range(3)] == [503, 503, 202]


def test_a_fault_strikes_its_own_operation_only(
    caller: httpx.Client, products: PretendProducts
) -> None:
    products.fault("scheduling.read-scheduling/v1", "status-5xx")
    assert send(caller).status_code == 202
    assert caller.get("/scheduling/v1/scheduling").status_code == 503


def test_chance_with_a_seed_repeats_itself(caller: httpx.Client, products: PretendProducts) -> None:
    def twenty() -> list[int]:
        products.clear_faults()
        products.fault("*", "status-5xx", probability=0.5, seed=11)
        return [send(caller).status_code for _ in range(20)]

    first = twenty()
    assert twenty() == first
    assert {202, 503} == set(first)


def test_lifted_faults_strike_no_more(caller: httpx.Client, products: PretendProducts) -> None:
    products.fault(SUBMIT, "refuse", count=9)
    products.clear_faults(SUBMIT)
    assert send(caller).status_code == 202


@pytest.mark.parametrize(
    "asked",
    [
        {"operation": SUBMIT, "fault": "explode"},
        {"operation": SUBMIT, "fault": "slow", "seconds": "long"},
        {"operation": SUBMIT, "fault": "slow", "extra": 1},
        {"operation": SUBMIT, "fault": "refuse", "probability": 2},
        {"operation": SUBMIT, "fault": "refuse", "count": 0},
    ],
)
def test_a_wrong_fault_is_refused(products: PretendProducts, asked: dict[str, Any]) -> None:
    operation, fault = asked.pop("operation"), asked.pop("fault")
    with pytest.raises(ControlRefused) as refused:
        products.fault(operation, fault, **asked)
    assert (refused.value.status, refused.value.code) == (422, "fault-invalid")


def test_a_fault_on_an_unknown_operation_is_refused(products: PretendProducts) -> None:
    with pytest.raises(ControlRefused) as refused:
        products.fault("messaging.send", "slow")
    assert refused.value.code == "operation-unknown"


def test_the_log_shows_each_attempt_with_key_and_bytes(
    caller: httpx.Client, products: PretendProducts
) -> None:
    products.fault(SUBMIT, "status-5xx")
    send(caller)
    send(caller)
    first, second = products.requests(SUBMIT)
    assert (first.outcome, second.outcome) == ("503", "202")
    assert first.key == second.key == "key-1"
    assert second.body_sha256
    assert products.received() == {SUBMIT: 2}
