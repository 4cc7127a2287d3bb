"""What is on record beyond the point to which an execution went back."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from activities.errors import ActivityError
from adapter.ledger import Ledger, Package
from interpreter.contract.calls import GivenSignal, OnRecord
from interpreter.contract.records import RunState, StepRecord
from interpreter.definition.document import Labels
from tests.adapter.ledger.test_signals import PAID, visit, waiting
from tests.adapter.ledger.test_waits import wait
from tests.adapter.ledger.words import admission

FIRST, SECOND = "main/first:1", "main/second:1"


@pytest.fixture
async def run_id(ledger: Ledger) -> str:
    """A run that waits for `paid` twice, after a call."""
    made = waiting()
    await ledger.packages.apply(Package("sha256:p2", made, Labels(version="2")), "deployer")
    return (await ledger.admissions.admit(admission("k2", expected_revision=made.revision))).run_id


def step(sequence: int, node: str, outlet: str, code: str = "", kind: str = "wait") -> StepRecord:
    return StepRecord(sequence, "main", node, 1, kind, "succeeded", outlet, code)


async def passed(ledger: Ledger, run_id: str, code: str) -> None:
    """Have the run call, wait and call again; ``code`` names the signal that ended the wait."""
    called = (step(2, "send", "next", kind="call"),)
    await ledger.runs.record(run_id, RunState.RUNNING, called)
    await ledger.runs.open_wait(wait(run_id, wait=visit(run_id), kind="signal", sequence=3))
    more = (step(5, "first", "resumed", code), step(7, "more", "next", kind="call"))
    await ledger.runs.record(run_id, RunState.RUNNING, more)


async def test_an_execution_that_is_where_the_record_ends_has_nothing_ahead(
    ledger: Ledger, run_id: str
) -> None:
    assert await ledger.runs.ahead(run_id, 0) == {}
    signal = await ledger.signals.begin(run_id, PAID)
    await passed(ledger, run_id, signal.id)
    assert await ledger.runs.ahead(run_id, 7) == {}
    await ledger.runs.open_wait(wait(run_id, wait=visit(run_id, "second"), kind="signal"))
    assert await ledger.runs.ahead(run_id, 7) == {}


async def test_what_an_execution_has_lost_is_ahead_with_what_ended_it(
    ledger: Ledger, run_id: str
) -> None:
    signal = await ledger.signals.begin(run_id, PAID)
    await passed(ledger, run_id, signal.id)
    given = GivenSignal(signal.id, {"canary": 3})
    ahead = {FIRST: OnRecord("resumed", given), "main/more:1": OnRecord()}
    assert await ledger.runs.ahead(run_id, 2) == ahead
    assert await ledger.runs.ahead(run_id, 0) == {"main/send:1": OnRecord(), **ahead}


async def test_a_signal_that_nobody_has_any_more_is_ahead_without_itself(
    ledger: Ledger, run_id: str
) -> None:
    await passed(ledger, run_id, "temporal:1")
    assert (await ledger.runs.ahead(run_id, 2))[FIRST] == OnRecord("resumed")


async def test_more_signals_than_have_room_are_as_good_as_lost(
    ledger: Ledger, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    signal = await ledger.signals.begin(run_id, PAID)
    more = await ledger.signals.begin(run_id, replace(PAID, signal_id="s2"))
    await passed(ledger, run_id, signal.id)
    taken = step(10, "second", "resumed", more.id)
    await ledger.runs.record(run_id, RunState.RUNNING, (taken,))
    monkeypatch.setattr(sys.modules["adapter.ledger.ahead"], "MOST_KEPT_BYTES", 20)
    found = await ledger.runs.ahead(run_id, 2)
    assert found[FIRST].signal == GivenSignal(signal.id, {"canary": 3})
    assert found[SECOND] == OnRecord("resumed", kept=True)


async def test_the_wait_that_a_cancel_has_ended_is_told_wherever_it_is(
    ledger: Ledger, run_id: str
) -> None:
    await ledger.runs.open_wait(wait(run_id, wait=visit(run_id), kind="signal", sequence=1))
    ended = StepRecord(3, "main", "first", 1, "wait", "cancelled", "cancelled")
    await ledger.runs.record(run_id, RunState.RUNNING, (ended,))
    for after in (0, 9):
        assert await ledger.runs.ahead(run_id, after) == {FIRST: OnRecord("cancelled")}


async def test_a_wait_that_never_opened_is_ahead_with_the_signal_that_was_there_before_it(
    ledger: Ledger, run_id: str
) -> None:
    signal = await ledger.signals.begin(run_id, PAID)
    taken = step(4, "first", "resumed", signal.id)
    await ledger.runs.record(run_id, RunState.RUNNING, (taken,))
    kept = OnRecord("resumed", GivenSignal(signal.id, {"canary": 3}), kept=True)
    assert await ledger.runs.ahead(run_id, 0) == {FIRST: kept}


async def test_a_completion_is_ahead_only_where_the_run_went_on(
    ledger: Ledger, run_id: str
) -> None:
    await ledger.runs.open_wait(wait(run_id, wait=visit(run_id, "second"), sequence=1))
    assert await ledger.runs.resolve_wait(visit(run_id, "second"), "completed") == "completed"
    assert await ledger.runs.ahead(run_id, 0) == {}
    more = (step(3, "second", "completed"),)
    await ledger.runs.record(run_id, RunState.RUNNING, more)
    assert (await ledger.runs.ahead(run_id, 0))[SECOND] == OnRecord("completed")


async def test_a_run_that_was_never_admitted_has_no_record(ledger: Ledger) -> None:
    with pytest.raises(ActivityError) as refused:
        await ledger.runs.ahead("0b9d5a0e-0000-4000-8000-00000000000a", 0)
    assert refused.value.code == "run.unknown"
