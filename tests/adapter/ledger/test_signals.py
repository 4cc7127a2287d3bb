"""Signals in the ledger: on record first, one outcome, and a word at the end of a wait."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from activities.errors import ActivityError
from adapter.errors import Refused
from adapter.ledger import ActKind, Ledger, Package, Signal, SignalWish, Wish
from adapter.ledger.signals import MOST_OPEN_SIGNALS
from interpreter.contract.calls import EndedWait, GivenSignal
from interpreter.contract.effects import VisitRef
from interpreter.contract.records import Closing, RunState, StepRecord
from interpreter.definition.document import Definition, Labels
from tests.adapter.ledger.test_waits import wait
from tests.adapter.ledger.words import DEFINITION, admission

Sql = Callable[..., Awaitable[list[Any]]]
PAID = SignalWish("paid", "desk", "s1", {"canary": 3})


def waiting() -> Definition:
    """Two waits on ``paid``: first an object, then a number."""
    document = DEFINITION.to_json()
    for name, kind, then in (("first", "object", "second"), ("second", "integer", "end")):
        source = {"type": "signal", "signal": "paid", "schema": {"type": kind}}
        document["nodes"][name] = {
            "kind": "wait",
            "wait": {**source, "timeoutSeconds": 9},
            "outlets": {"resumed": then},
        }
    document["nodes"]["send"]["outlets"] = {"next": "first"}
    return Definition.model_validate(document)


@pytest.fixture
async def run_id(ledger: Ledger) -> str:
    """A run that waits for ``paid`` twice."""
    made = waiting()
    await ledger.packages.apply(Package("sha256:p2", made, Labels(version="2")), "deployer")
    admitted = await ledger.admissions.admit(admission("k2", expected_revision=made.revision))
    return admitted.run_id


async def refusal(ledger: Ledger, run_id: str, wish: SignalWish) -> str:
    with pytest.raises(Refused) as refused:
        await ledger.signals.begin(run_id, wish)
    return refused.value.code


def visit(run_id: str, node: str = "first") -> VisitRef:
    return VisitRef(run_id, "main", node, 1)


async def test_a_signal_is_on_record_sealed_and_due_later(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    begun = await ledger.signals.begin(run_id, PAID)
    assert (begun.state, begun.outcome, begun.name) == ("recorded", "", "paid")
    assert ledger.signals.payload(begun) == {"canary": 3}
    assert await ledger.signals.pending() == []
    rows = (
        await sql("select * from coordinator.signals"),
        await sql("select * from coordinator.events"),
    )
    assert "canary" not in str(rows)
    await sql("update coordinator.signals set due_at = clock_timestamp()")
    assert [one.id for one in await ledger.signals.pending()] == [begun.id]
    assert await ledger.signals.pending() == []
    counted = await ledger.census.count()
    assert (counted.open_signals, counted.oldest_signal) == (1, begun.recorded_at)


async def test_the_same_id_is_the_same_signal(ledger: Ledger, run_id: str) -> None:
    begun = await ledger.signals.begin(run_id, PAID)
    assert await ledger.signals.begin(run_id, PAID) == begun
    for other in (replace(PAID, payload={}), replace(PAID, actor="other")):
        assert await refusal(ledger, run_id, other) == "idempotency.key-reused"
    another = await ledger.signals.begin(run_id, replace(PAID, name="shipped", payload={}))
    assert another.id != begun.id


async def test_the_first_outcome_stands(ledger: Ledger, run_id: str, sql: Sql) -> None:
    begun = await ledger.signals.begin(run_id, PAID)
    for outcome in ("kept", "late"):
        await ledger.signals.conclude(begun.id, outcome)
    found = await ledger.signals.signal(begun.id)
    assert (found.state, found.outcome) == ("done", "kept")
    kinds = await sql(
        "select kind from coordinator.journal where kind like 'signal%%' order by sequence"
    )
    assert kinds == [("signal.recorded",), ("signal.concluded",)]


async def test_a_run_that_is_over_takes_no_signal_and_says_what_became_of_the_old_ones(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    begun = await ledger.signals.begin(run_id, PAID)
    step = StepRecord(3, "main", "first", 1, "wait", "succeeded", "resumed", begun.id)
    await ledger.runs.close(run_id, 1, Closing(RunState.CANCELLED, 9, steps=(step,)))
    again = await ledger.signals.begin(run_id, PAID)
    assert (again.outcome, again.visit) == ("completed", "main/first:1")
    assert await refusal(ledger, run_id, replace(PAID, signal_id="s2")) == "signal.late"
    late = await sql("select detail from coordinator.journal where kind = 'signal.refused'")
    assert [detail["code"] for (detail,) in late] == ["signal.late"]


async def test_signals_without_an_outcome_are_bounded(ledger: Ledger, run_id: str) -> None:
    for number in range(MOST_OPEN_SIGNALS):
        begun = await ledger.signals.begin(run_id, replace(PAID, signal_id=f"n{number}"))
    assert await refusal(ledger, run_id, PAID) == "signal.too-many"
    await ledger.signals.conclude(begun.id, "completed")
    assert (await ledger.signals.begin(run_id, PAID)).state == "recorded"


async def test_a_step_that_names_a_kept_signal_completes_it(ledger: Ledger, run_id: str) -> None:
    await ledger.runs.open_wait(wait(run_id, wait=visit(run_id), kind="signal"))
    begun = await ledger.signals.begin(run_id, PAID)
    await ledger.signals.conclude(begun.id, "kept")
    step = StepRecord(9, "main", "first", 1, "wait", "succeeded", "resumed", begun.id)
    await ledger.runs.record(run_id, RunState.RUNNING, (step,))
    assert (await ledger.signals.signal(begun.id)).outcome == "completed"
    inspected = await ledger.reads.inspect(run_id, None)
    [(shown, signal)] = zip(inspected.waits, inspected.signals, strict=True)
    assert shown.resolution == "resumed"
    assert (signal.id, signal.name, signal.visit) == (begun.id, "paid", "main/first:1")


async def test_a_plain_signal_in_a_step_is_no_signal_of_the_ledger(
    ledger: Ledger, run_id: str
) -> None:
    await ledger.runs.open_wait(wait(run_id, wait=visit(run_id), kind="signal"))
    plain = f"temporal:{uuid.uuid4()}"
    step = StepRecord(9, "main", "first", 1, "wait", "succeeded", "resumed", plain)
    await ledger.runs.record(run_id, RunState.RUNNING, (step,))
    (shown,) = (await ledger.reads.inspect(run_id, None)).waits
    assert shown.resolution == "resumed"


async def test_the_oldest_fitting_signal_on_record_ends_a_wait_whose_time_is_over(
    ledger: Ledger, run_id: str
) -> None:
    number = await ledger.signals.begin(run_id, replace(PAID, signal_id="n", payload=7))
    first = await ledger.signals.begin(run_id, PAID)
    await ledger.signals.begin(run_id, replace(PAID, signal_id="s2"))
    ended = await ledger.runs.end_wait(visit(run_id))
    assert ended.signal == GivenSignal(first.id, {"canary": 3})
    assert await ledger.runs.end_wait(visit(run_id)) == ended
    assert await outcome(ledger, first) == ("completed", "main/first:1")
    assert (await ledger.runs.end_wait(visit(run_id, "second"))).signal == GivenSignal(number.id, 7)


async def test_a_signal_after_the_end_of_its_wait_is_late(ledger: Ledger, run_id: str) -> None:
    assert (await ledger.runs.end_wait(visit(run_id))).signal is None
    begun = await ledger.signals.begin(run_id, PAID)
    assert (await ledger.runs.end_wait(visit(run_id))).signal is None
    assert await outcome(ledger, begun) == ("", "")


async def test_a_signal_that_was_answered_for_ends_no_other_wait(
    ledger: Ledger, run_id: str
) -> None:
    begun = await ledger.signals.begin(run_id, PAID)
    await ledger.signals.conclude(begun.id, "completed")
    assert (await ledger.runs.end_wait(visit(run_id))).signal is None


async def test_a_kept_signal_that_its_execution_has_lost_ends_the_wait(
    ledger: Ledger, run_id: str
) -> None:
    kept = await ledger.signals.begin(run_id, PAID)
    await ledger.signals.conclude(kept.id, "kept")
    ended = await ledger.runs.end_wait(visit(run_id))
    assert ended.signal == GivenSignal(kept.id, {"canary": 3})
    assert await outcome(ledger, kept) == ("completed", "main/first:1")
    assert (await ledger.runs.end_wait(visit(run_id, "second"))).signal is None


async def test_a_wait_whose_signal_is_lost_takes_another_and_never_expires(
    ledger: Ledger, run_id: str
) -> None:
    await lost(ledger, run_id)
    for _ in range(2):
        with pytest.raises(ActivityError) as refused:
            await ledger.runs.end_wait(visit(run_id))
        assert refused.value.code == "signal.lost"
    assert (await ledger.census.count()).oldest_due is not None
    again = await ledger.signals.begin(run_id, PAID)
    ended = await ledger.runs.end_wait(visit(run_id))
    assert ended.signal == GivenSignal(again.id, {"canary": 3})
    assert await ledger.runs.end_wait(visit(run_id)) == ended


async def test_a_lost_signal_of_a_run_that_is_over_needs_nobody(
    ledger: Ledger, run_id: str
) -> None:
    await lost(ledger, run_id)
    with pytest.raises(ActivityError):
        await ledger.runs.end_wait(visit(run_id))
    await ledger.runs.request_cancel(run_id, "no more")
    assert (await ledger.census.count()).oldest_due is not None
    await ledger.runs.close(run_id, 1, Closing(RunState.CANCELLED, 9))
    assert (await ledger.census.count()).oldest_due is None


@pytest.mark.parametrize("over", ["cancel", "deadline"])
async def test_a_lost_signal_is_not_waited_for_when_the_run_is_to_end(
    ledger: Ledger, run_id: str, sql: Sql, over: str
) -> None:
    await lost(ledger, run_id)
    if over == "cancel":
        await ledger.runs.request_cancel(run_id, "no more")
    else:
        await sql("update coordinator.runs set deadline_at = clock_timestamp()")
    assert await ledger.runs.end_wait(visit(run_id)) == EndedWait(None, over)


async def test_a_lost_signal_of_a_wait_after_a_cancel_is_waited_for_until_the_deadline(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    await lost(ledger, run_id)
    await ledger.runs.request_cancel(run_id, "no more")
    with pytest.raises(ActivityError) as refused:
        await ledger.runs.end_wait(visit(run_id), after_cancel=True)
    assert refused.value.code == "signal.lost"
    await sql("update coordinator.runs set deadline_at = clock_timestamp()")
    ended = await ledger.runs.end_wait(visit(run_id), after_cancel=True)
    assert ended == EndedWait(None, "deadline")


@pytest.mark.parametrize("code", ["temporal:1", "signal"])
async def test_a_wait_that_never_opened_has_its_signal_too(
    ledger: Ledger, run_id: str, code: str
) -> None:
    signal = await ledger.signals.begin(run_id, PAID)
    code = signal.id if code == "signal" else code
    taken = StepRecord(2, "main", "first", 1, "wait", "succeeded", "resumed", code)
    await ledger.runs.record(run_id, RunState.RUNNING, [taken])
    if code == signal.id:
        ended = await ledger.runs.end_wait(visit(run_id))
        assert ended.signal == GivenSignal(signal.id, {"canary": 3})
        return
    await ledger.signals.conclude(signal.id, "late")
    with pytest.raises(ActivityError) as refused:
        await ledger.runs.end_wait(visit(run_id))
    assert refused.value.code == "signal.lost"


async def test_the_end_of_a_wait_that_a_cancel_has_ended_is_left_to_the_cancel(
    ledger: Ledger, run_id: str
) -> None:
    await ledger.runs.request_cancel(run_id, "no more")
    ended = StepRecord(3, "main", "first", 1, "wait", "cancelled", "cancelled")
    await ledger.runs.record(run_id, RunState.RUNNING, [ended])
    assert await ledger.runs.end_wait(visit(run_id)) == EndedWait(None, "cancel")
    await ledger.runs.close(run_id, 1, Closing(RunState.CANCELLED, 9))
    assert await ledger.runs.end_wait(visit(run_id)) == EndedWait(None)


async def test_what_was_of_no_use_is_journalled_without_its_name(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    await ledger.runs.note_signal(run_id, "canary", "unfit")
    rows = await sql("select refs, detail from coordinator.journal where kind = 'signal.dropped'")
    [(refs, detail)] = rows
    assert (detail, "canary" in str(refs)) == ({"code": "unfit"}, False)


async def test_a_run_that_can_not_be_told_again_keeps_no_other_waiting(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    made = waiting()
    other = await ledger.admissions.admit(admission("k3", expected_revision=made.revision))
    for run in (run_id, other.run_id):
        told = await ledger.signals.begin(run, PAID)
        await ledger.signals.conclude(told.id, "kept")
    copied = (
        "insert into coordinator.signals select (jsonb_populate_record(s, jsonb_build_object("
        "'id', gen_random_uuid(), 'recorded_at', s.recorded_at - n * interval '1 s'))).*"
        " from coordinator.signals s, generate_series(1, 150) n where s.run_id = %s"
    )
    await sql(copied, run_id)
    [(now,)] = await sql("select clock_timestamp()")
    again = await ledger.repeats.signals(now)
    assert len(again) == 100
    assert other.run_id in {one.run_id for one in again}
    given = [one.id for one in again if one.run_id == run_id]
    asked = "select id::text from coordinator.signals where run_id = %s order by recorded_at, id"
    assert given == [one for (one,) in await sql(asked, run_id)][: len(given)]


async def test_a_cancel_that_is_told_again_and_again_keeps_no_other_waiting(
    ledger: Ledger, run_id: str, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["adapter.ledger.repeats"], "_AT_A_TIME", 1)
    made = waiting()
    other = await ledger.admissions.admit(admission("k3", expected_revision=made.revision))
    for run in (run_id, other.run_id):
        await ledger.runs.request_cancel(run, "no more")
    [(now,)] = await sql("select clock_timestamp()")
    told = [await ledger.repeats.cancels(now) for _ in range(40)]
    assert {one.run_id for [one] in told} == {run_id, other.run_id}


async def lost(ledger: Ledger, run_id: str) -> None:
    """Have the first wait ended by a signal of Temporal's own tools, which is nowhere on record."""
    due = datetime.now(UTC)
    await ledger.runs.open_wait(wait(run_id, wait=visit(run_id), kind="signal", due_at=due))
    taken = StepRecord(2, "main", "first", 1, "wait", "succeeded", "resumed", "temporal:1")
    await ledger.runs.record(run_id, RunState.RUNNING, [taken])


async def outcome(ledger: Ledger, signal: Signal) -> tuple[str, str]:
    found = await ledger.signals.signal(signal.id)
    return found.outcome, found.visit


@pytest.mark.parametrize("first", ["signal", "cancel"])
async def test_what_was_on_record_first_ends_a_wait_whose_time_is_over(
    ledger: Ledger, run_id: str, first: str
) -> None:
    cancel = Wish(ActKind.CANCEL, "ops", "no more", "r1")
    if first == "cancel":
        await ledger.acts.begin(run_id, cancel)
    sent = await ledger.signals.begin(run_id, PAID)
    if first == "signal":
        await ledger.acts.begin(run_id, cancel)
    ended = await ledger.runs.end_wait(visit(run_id))
    by_signal = EndedWait(GivenSignal(sent.id, PAID.payload))
    assert ended == (by_signal if first == "signal" else EndedWait(None, "cancel"))
