"""Signals over HTTP: who may send them, what the answers say, and what is refused."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.adapter.api.conftest import Running


async def send(
    service: Running, run: str, payload: Any = None, key: str = "", caller: str = "desk"
) -> httpx.Response:
    """POST a signal."""
    headers = {"content-type": "application/json"} | ({"Idempotency-Key": key} if key else {})
    async with service.client(caller) as client:
        path = f"/v1/runs/{run}/signals/paid"
        return await client.post(path, content=json.dumps(payload), headers=headers)


@pytest.fixture
async def run(service: Running) -> str:
    """A run of the caller."""
    run_id: str = (await service.start()).json()["runId"]
    return run_id


@pytest.mark.parametrize("payload", [{"amount": 3}, None, 7, "text", [1]])
async def test_any_json_is_a_payload(service: Running, run: str, payload: Any) -> None:
    answer = await send(service, run, payload, key="k1")
    assert (answer.status_code, answer.json()["outcome"]) == (200, "completed")
    [(signalled, wish)] = service.signals.begun.values()
    assert (signalled, wish.name, wish.actor, wish.key) == (run, "paid", "desk", "k1")
    assert wish.payload == payload


@pytest.mark.parametrize("outcome", ["", "kept"])
async def test_what_is_not_taken_yet_is_202(service: Running, run: str, outcome: str) -> None:
    service.signals.outcome = outcome
    answer = await send(service, run)
    assert (answer.status_code, answer.json()["outcome"]) == (202, outcome or None)


@pytest.mark.parametrize("outcome", ["late", "too-many"])
async def test_what_nobody_will_take_is_409(service: Running, run: str, outcome: str) -> None:
    service.signals.outcome = outcome
    answer = await send(service, run)
    assert (answer.status_code, answer.json()["code"]) == (409, f"signal.{outcome}")


async def test_what_was_kept_until_the_run_ended_came_late(service: Running, run: str) -> None:
    service.signals.outcome, service.signals.run_closed = "kept", True
    assert (await send(service, run)).json()["code"] == "signal.late"


@pytest.mark.parametrize("refusal", [("signal.unknown", 404), ("signal.invalid", 422)])
async def test_a_refused_signal_says_why(
    service: Running, run: str, refusal: tuple[str, int]
) -> None:
    service.signals.refusal = refusal
    answer = await send(service, run)
    assert (answer.json()["code"], answer.status_code) == refusal


async def test_the_same_key_is_the_same_signal(service: Running, run: str) -> None:
    ids = [(await send(service, run, key=key)).json()["id"] for key in ("a", "a", "b", "")]
    assert (ids[0], len(set(ids))) == (ids[1], 3)


async def test_a_signal_for_a_hidden_run_can_not_be_told_from_one_for_none(
    service: Running, run: str
) -> None:
    hidden, absent = [await send(service, one, caller="other") for one in (run, str(UUID(int=7)))]
    assert (hidden.status_code, hidden.content) == (404, absent.content)


async def test_a_signal_needs_the_action_and_json(service: Running, run: str) -> None:
    assert (await send(service, run, caller="clerk")).status_code == 403
    async with service.client() as client:
        path = f"/v1/runs/{run}/signals/paid"
        assert (await client.post(path, content=b"x")).status_code == 415
        headers = {"content-type": "application/json"}
        assert (await client.post(path, content=b"{", headers=headers)).status_code == 400
