"""Completion events: signed as agreed, taken once, and never telling who waits."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook

from adapter.api import webhook_of
from tests.adapter.api.conftest import WEBHOOK_SECRET, Running

BODY = '{"data": {"reviewRequestId": "rr-1"}}'


def signed(
    body: str, secret: str = WEBHOOK_SECRET, id: str = "m1", at: datetime | None = None
) -> dict[str, str]:
    """The headers of a signed message."""
    at = at or datetime.now(UTC)
    return {
        "webhook-id": id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign(id, at, body),
        "content-type": "application/json",
    }


async def post(service: Running, body: str | bytes, headers: Any) -> httpx.Response:
    """Send a completion event with these headers."""
    async with httpx.AsyncClient(base_url=service.url) as client:
        return await client.post("/v1/review-completions", content=body, headers=headers)


async def test_a_signed_event_becomes_a_hint_and_tells_nothing(service: Running) -> None:
    answer = await post(service, BODY, signed(BODY))
    assert (answer.status_code, answer.json()) == (202, {"repeated": False})
    assert service.executions.asked[-1] == ("hint", "casework", "reviewRequestId", "rr-1")
    again = await post(service, BODY, signed(BODY))
    assert again.json() == {"repeated": True}


@pytest.mark.parametrize(
    "change",
    [
        {"webhook-signature": "v1,AAAA"},
        {"webhook-signature": "v1"},
        {"webhook-signature": "v1,!!!,v2"},
        {"webhook-signature": ""},
        {"webhook-id": "another"},
        {"webhook-id": ""},
        {"webhook-timestamp": "soon"},
        {"webhook-timestamp": "nan"},
        {"webhook-timestamp": "1"},
    ],
)
async def test_a_signature_that_does_not_hold_is_refused(service: Running, change: Any) -> None:
    answer = await post(service, BODY, signed(BODY) | change)
    assert (answer.status_code, answer.json()["code"]) == (401, "event.signature-invalid")
    assert service.executions.asked == []


@pytest.mark.parametrize("minutes", [-6, 6])
async def test_a_signature_is_good_for_five_minutes(service: Running, minutes: int) -> None:
    at = datetime.now(UTC) + timedelta(minutes=minutes)
    answer = await post(service, BODY, signed(BODY, at=at))
    assert (answer.status_code, service.executions.asked) == (401, [])


async def test_another_body_or_secret_is_refused(service: Running) -> None:
    other = BODY.replace("rr-1", "rr-2")
    assert (await post(service, other, signed(BODY))).status_code == 401
    forged = signed(BODY, "whsec_" + "AAAA" * 8)
    assert (await post(service, BODY, forged)).status_code == 401
    assert service.executions.asked == []


async def test_a_header_that_stands_twice_is_refused(service: Running) -> None:
    headers = [*signed(BODY).items(), ("webhook-id", "m2")]
    assert (await post(service, BODY, headers)).status_code == 401


async def test_a_body_that_is_no_text_is_refused(service: Running) -> None:
    assert (await post(service, b"\xff\xfe", signed(BODY))).status_code == 401


async def test_one_of_several_signatures_is_enough(service: Running) -> None:
    headers = signed(BODY)
    headers["webhook-signature"] = "v1a,xyz v1,AAAA " + headers["webhook-signature"]
    assert (await post(service, BODY, headers)).status_code == 202


@pytest.mark.parametrize("event", [{"data": {}}, {"data": {"reviewRequestId": 7}}, [], "x"])
async def test_an_event_without_a_subject_is_400(service: Running, event: Any) -> None:
    body = json.dumps(event)
    answer = await post(service, body, signed(body))
    assert (answer.status_code, answer.json()["place"]) == (400, "/data/reviewRequestId")


@pytest.mark.parametrize("secret", ["whsec_", "", "whsec_***", "whsec_c2hvcnQ=", "short"])
def test_a_secret_that_is_none_or_too_short_is_refused(secret: str) -> None:
    with pytest.raises(ValueError, match="secret"):
        webhook_of(secret)
