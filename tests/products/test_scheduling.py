"""Pretend Scheduling: policy, free slots and appointments."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from examples.products.client import PretendProducts
from examples.products.scheduling import SLOTS_AT_ONCE

MONDAY = {"start": "2030-06-03T00:00:00Z", "end": "2030-06-04T00:00:00Z"}
WINDOW = {"offering": "advice", "limit": "100", **MONDAY}


def book(caller: httpx.Client, key: str, path: str = "", **more: Any) -> httpx.Response:
    admission = {
        "offering": "advice",
        "start": "2030-06-03T09:00:00Z",
        "party": {"recipients": ["maya"], "attendees": 1},
        "policyRevision": 3,
        **more,
    }
    body = {"hold": None, "admission": admission}
    headers = {"idempotency-key": key}
    return caller.post(f"/scheduling/v1/appointments{path}", json=body, headers=headers)


def test_the_policy_has_a_revision_and_a_digest(caller: httpx.Client) -> None:
    policy = caller.get("/scheduling/v1/scheduling").json()
    assert set(policy) == {"schedulingId", "policyRevision", "policyDigest"}


def test_slots_are_given_up_to_the_limit_with_a_cursor(caller: httpx.Client) -> None:
    path = "/scheduling/v1/availability"
    whole = caller.get(path, params=WINDOW).json()
    part = caller.get(path, params={**WINDOW, "limit": "2"}).json()
    assert len(whole["items"]) == 16
    assert whole["nextCursor"] is None
    assert part["items"] == whole["items"][:2]
    assert part["nextCursor"] == whole["items"][2]["start"]


@pytest.mark.parametrize(
    "change", [{"limit": "101"}, {"end": "2030-09-01T00:00:00Z"}, {"end": "2030-06-03T00:00:00Z"}]
)
def test_a_wrong_window_is_refused(caller: httpx.Client, change: dict[str, str]) -> None:
    answer = caller.get("/scheduling/v1/availability", params={**WINDOW, **change})
    assert (answer.status_code, answer.json()["code"]) == (422, "availability-invalid")


def test_an_appointment_is_booked_and_takes_a_place(caller: httpx.Client) -> None:
    answer = book(caller, "key-1")
    slots = caller.get("/scheduling/v1/availability", params=WINDOW).json()["items"]
    assert (answer.status_code, answer.json()["state"]) == (201, "booked")
    assert answer.json()["end"] == "2030-06-03T09:30:00.000Z"
    assert slots[0]["free"] == SLOTS_AT_ONCE - 1


def test_the_receipt_of_an_appointment_is_the_appointment(caller: httpx.Client) -> None:
    made = book(caller, "key-1")
    read = book(caller, "key-1", "/receipt")
    assert (read.status_code, read.json()) == (200, made.json())


def test_another_policy_revision_is_a_declared_refusal(
    caller: httpx.Client, products: PretendProducts
) -> None:
    answer = book(caller, "key-1", policyRevision=2)
    assert (answer.status_code, answer.json()["code"]) == (409, "policy-changed")
    assert products.effects() == []


def test_the_same_party_is_not_booked_twice(caller: httpx.Client) -> None:
    assert book(caller, "key-1", duplicateKey="maya").status_code == 201
    again = book(caller, "key-2", duplicateKey="maya", start="2030-06-04T09:00:00Z")
    assert again.json()["code"] == "duplicate-appointment"


def test_a_full_slot_is_a_declared_refusal(caller: httpx.Client) -> None:
    for number in range(SLOTS_AT_ONCE):
        assert book(caller, f"key-{number}").status_code == 201
    assert book(caller, "one-more").json()["code"] == "slot-unavailable"


def test_a_hold_is_refused(caller: httpx.Client) -> None:
    answer = caller.post(
        "/scheduling/v1/appointments",
        json={"hold": {}, "admission": {}},
        headers={"idempotency-key": "key-1"},
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "appointment-invalid")
