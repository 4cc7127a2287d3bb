"""Pretend Casework: submitting, deciding and withdrawing a review, and its page."""

from __future__ import annotations

import httpx
import pytest

from examples.products.client import ControlRefused, PretendProducts

REQUESTS = "/casework/v1/review-requests"
BODY = {"title": "Review APP-1001", "subject": {"collection": "applications", "id": "APP-1001"}}


def submit(caller: httpx.Client, key: str = "key-1", **more: object) -> httpx.Response:
    return caller.post(REQUESTS, json={**BODY, **more}, headers={"idempotency-key": key})


def withdraw(caller: httpx.Client, review_id: str, key: str = "key-w") -> httpx.Response:
    path = f"{REQUESTS}/{review_id}/withdraw"
    return caller.post(path, json={"reason": "timed out"}, headers={"idempotency-key": key})


@pytest.fixture
def review_id(caller: httpx.Client) -> str:
    return str(submit(caller).json()["reviewRequestId"])


def test_a_submitted_review_is_pending(caller: httpx.Client) -> None:
    answer = submit(caller)
    review = answer.json()
    assert answer.status_code == 201
    assert (review["state"], review["result"], review["revision"]) == ("pending", None, 1)
    assert answer.headers["location"] == f"{REQUESTS}/{review['reviewRequestId']}"


def test_the_same_key_and_body_give_the_same_review(
    caller: httpx.Client, products: PretendProducts
) -> None:
    first, second = submit(caller), submit(caller)
    assert first.json() == second.json()
    assert "idempotency-replayed" not in first.headers
    assert second.headers["idempotency-replayed"] == "true"
    assert [effect.applied for effect in products.effects()] == [1]


def test_the_order_of_members_does_not_matter_to_a_key(caller: httpx.Client) -> None:
    first = submit(caller)
    turned = dict(reversed(BODY.items()))
    second = caller.post(REQUESTS, json=turned, headers={"idempotency-key": "key-1"})
    assert second.json() == first.json()


def test_a_key_with_another_body_is_a_conflict(caller: httpx.Client) -> None:
    submit(caller)
    answer = submit(caller, title="Another")
    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency-conflict")


@pytest.mark.parametrize("key", ["", "a b", "ü", "x" * 129])
def test_a_key_must_be_visible_ascii(caller: httpx.Client, key: str) -> None:
    headers = {b"idempotency-key": key.encode()}
    answer = caller.post(REQUESTS, json=BODY, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (400, "idempotency-key-invalid")


@pytest.mark.parametrize("body", [{}, {**BODY, "extra": 1}, {"subject": {}}, {**BODY, "data": 1}])
def test_a_wrong_request_is_refused(caller: httpx.Client, body: object) -> None:
    answer = caller.post(REQUESTS, json=body, headers={"idempotency-key": "key-1"})
    assert (answer.status_code, answer.json()["code"]) == (422, "review-request-invalid")


def test_an_unknown_template_is_a_declared_refusal(
    caller: httpx.Client, products: PretendProducts
) -> None:
    answer = submit(caller, template="unknown-template")
    assert (answer.status_code, answer.json()["code"]) == (409, "review-template-unknown")
    assert products.effects() == []


def test_a_decision_completes_the_review(
    caller: httpx.Client, products: PretendProducts, review_id: str
) -> None:
    products.decide(review_id, "approved", "Looks right", decided_by="ruth")
    review = caller.get(f"{REQUESTS}/{review_id}").json()
    result = review["result"]
    assert (review["state"], review["revision"]) == ("completed", 2)
    assert (result["decision"], result["decidedBy"]) == ("approved", "ruth")
    assert result["comment"] == "Looks right"


def test_a_review_is_decided_once(products: PretendProducts, review_id: str) -> None:
    products.decide(review_id, "approved")
    with pytest.raises(ControlRefused) as refused:
        products.decide(review_id, "rejected")
    assert (refused.value.status, refused.value.code) == (409, "review-already-completed")


def test_a_pending_review_can_be_withdrawn(caller: httpx.Client, review_id: str) -> None:
    answer = withdraw(caller, review_id)
    assert (answer.status_code, answer.json()["state"]) == (200, "withdrawn")
    assert withdraw(caller, review_id).headers["idempotency-replayed"] == "true"


def test_a_decision_before_the_withdrawal_is_a_declared_refusal(
    caller: httpx.Client, products: PretendProducts, review_id: str
) -> None:
    products.decide(review_id, "rejected")
    answer = withdraw(caller, review_id)
    assert (answer.status_code, answer.json()["code"]) == (409, "review-already-completed")
    assert caller.get(f"{REQUESTS}/{review_id}").json()["result"]["decision"] == "rejected"


def test_a_withdrawn_review_takes_no_decision(
    caller: httpx.Client, products: PretendProducts, review_id: str
) -> None:
    withdraw(caller, review_id)
    with pytest.raises(ControlRefused) as refused:
        products.decide(review_id, "approved")
    assert refused.value.code == "review-already-withdrawn"


def test_an_unknown_review_is_not_found(caller: httpx.Client) -> None:
    answer = caller.get(f"{REQUESTS}/none")
    assert (answer.status_code, answer.json()["code"]) == (404, "review-request-not-found")


def test_reviews_are_listed_by_state(products: PretendProducts, review_id: str) -> None:
    assert [review.review_request_id for review in products.reviews("pending")] == [review_id]
    products.decide(review_id, "approved")
    assert products.reviews("pending") == []
    assert products.reviews("completed")[0].decision == "approved"
