"""Tests of what operators may ask for: reasons, keys, answers, and controls that agree."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx
import pytest

from adapter.api.acts import ACTS
from adapter.api.problems import KINDS
from adapter.ledger.act_rules import ACT_CODES, refusal
from interpreter.contract.records import RunState
from tests.adapter.api.conftest import Running

KINDS_OF_ACTS = sorted(ACTS)


async def act(
    service: Running, run: str, kind: str = "retry-same", key: str = "", **body: object
) -> httpx.Response:
    """POST an act with a reason."""
    headers = {"Idempotency-Key": key} if key else {}
    async with service.client() as client:
        sent = {"reason": "the line is back"} | body
        return await client.post(f"/v1/runs/{run}/{kind}", json=sent, headers=headers)


@pytest.fixture
async def run(service: Running) -> str:
    """A run of the caller."""
    run_id: str = (await service.start()).json()["runId"]
    return run_id


@pytest.mark.parametrize("kind", KINDS_OF_ACTS)
async def test_an_act_answers_what_happened_and_how_the_run_stands(
    service: Running, run: str, kind: str
) -> None:
    answer = await act(service, run, kind)
    assert answer.status_code == 200
    shown = answer.json()
    assert (shown["runId"], shown["act"]["kind"]) == (run, kind)
    assert (shown["act"]["state"], shown["act"]["outcome"]) == ("done", "accepted")


async def test_an_outcome_that_is_not_known_yet_is_202_with_an_address(
    service: Running, run: str
) -> None:
    service.desk.outcome = ""
    answer = await act(service, run)
    assert (answer.status_code, answer.json()["act"]["outcome"]) == (202, None)
    service.desk.outcome = "unknown"
    async with service.client() as client:
        later = await client.get(answer.headers["location"])
    assert later.json()["outcome"] == "unknown"


async def test_the_same_key_is_the_same_act_and_none_is_a_new_one(
    service: Running, run: str
) -> None:
    first, again = await act(service, run, key="k"), await act(service, run, key="k")
    assert first.json()["act"]["id"] == again.json()["act"]["id"]
    assert (await act(service, run)).json()["act"]["id"] != (
        (await act(service, run)).json()["act"]["id"]
    )


async def test_who_asked_for_what_goes_on_record(service: Running, run: str) -> None:
    await act(service, run, effect="main/send:1", key="k1")
    [(_, wish)] = service.desk.begun.values()
    assert (wish.actor, wish.reason, wish.key) == ("desk", "the line is back", "k1")
    assert wish.effect == "main/send:1"


@pytest.mark.parametrize("reason", ["", "x" * 257, "é" * 129, "two\nlines", "bell\x07"])
async def test_a_reason_is_one_short_line(service: Running, run: str, reason: str) -> None:
    answer = await act(service, run, reason=reason)
    assert (answer.status_code, answer.json()["code"]) == (400, "act.reason-invalid")
    assert service.desk.begun == {}


@pytest.mark.parametrize("body", [{"effect": 3}, {"effects": "a"}, {"reason": None}])
async def test_a_malformed_act_is_400(service: Running, run: str, body: Any) -> None:
    assert (await act(service, run, **body)).status_code == 400


async def test_a_cancel_is_about_no_effect(service: Running, run: str) -> None:
    assert (await act(service, run, "cancel", effect="main/send:1")).status_code == 400


async def test_a_refused_act_says_why(service: Running, run: str) -> None:
    service.desk.refusal = "act.receipt-expired"
    answer = await act(service, run)
    assert (answer.status_code, answer.json()["code"]) == (409, "act.receipt-expired")


async def test_an_act_on_a_hidden_run_can_not_be_told_from_one_on_none(
    service: Running, run: str
) -> None:
    async with service.client("other") as client:
        for kind in KINDS_OF_ACTS:
            paths = [f"/v1/runs/{one}/{kind}" for one in (run, UUID(int=7))]
            hidden, absent = [await client.post(p, json={"reason": "x"}) for p in paths]
            assert hidden.status_code == absent.status_code == 404
            assert hidden.content == absent.content


async def test_an_act_of_another_run_is_not_found(service: Running, run: str) -> None:
    other = (await service.start("k2")).json()["runId"]
    one = (await act(service, run)).json()["act"]["id"]
    async with service.client() as client:
        assert (await client.get(f"/v1/runs/{run}/acts/{one}")).status_code == 200
        assert (await client.get(f"/v1/runs/{other}/acts/{one}")).status_code == 404


@pytest.mark.parametrize("kind", KINDS_OF_ACTS)
async def test_an_act_outside_the_policy_is_403(service: Running, run: str, kind: str) -> None:
    async with service.client("clerk") as client:
        answer = await client.post(f"/v1/runs/{run}/{kind}", json={"reason": "x"})
    assert (answer.status_code, answer.json()["code"]) == (403, "access.denied")


async def test_controls_are_the_acts_that_run_and_policy_allow(service: Running, run: str) -> None:
    service.book.change(run, state=RunState.ATTENTION, acts=("retry-same", "reconcile"))
    async with service.client() as client:
        shown = (await client.get(f"/v1/runs/{run}")).json()["controls"]
    assert [control["name"] for control in shown] == ["retry-same", "reconcile"]
    assert shown[0]["href"] == f"/v1/runs/{run}/retry-same"


def test_every_reason_of_the_ledger_is_a_problem_of_the_service() -> None:
    known = {code for code in KINDS if code.startswith("act.")}
    assert known == {*ACT_CODES, "act.reason-invalid"}


def test_a_refusal_names_the_run_when_no_effect_is_in_the_way() -> None:
    places = {code: refusal(code).place for code in ACT_CODES}
    assert set(places.values()) == {"runId", "effect"}
    assert places["act.closed"] == places["act.held"] == "runId"
    assert places["act.effect-unknown"] == places["act.not-uncertain"] == "effect"
