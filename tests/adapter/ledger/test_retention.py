"""Retention: what is erased, what never is, and what still works afterwards."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adapter.errors import Refused
from adapter.ledger import ActKind, Ledger, Package, SignalWish, Wish
from adapter.ledger.retention import may_change
from interpreter.contract.records import Closing, RunState
from interpreter.definition.document import Definition, Labels
from tests.adapter.ledger.words import (
    DEFINITION,
    READ,
    accepted,
    admission,
    answer,
    claim,
    dispatch,
    effect,
    lapse,
    refused,
    unknown,
)

Sql = Callable[..., Awaitable[list[Any]]]
DONE = Closing(RunState.FINISHED, 9, "done", {"a": 1})


def now() -> datetime:
    """An instant that is just over, by any clock of this machine."""
    return datetime.now(UTC)


async def ended(ledger: Ledger, run_id: str, reply: Any, closing: Closing = DONE) -> None:
    """Send one command of a run, and end the run."""
    sent = claim(effect(run_id))
    await dispatch(ledger, sent)
    await ledger.effects.settle(answer(sent, reply, receipt={"id": "rcpt-1"}))
    await ledger.runs.close(run_id, 1, closing)


async def test_payloads_go_and_ids_stay(ledger: Ledger, run_id: str, sql: Sql) -> None:
    await ended(ledger, run_id, accepted({"secret": 1}))
    assert await ledger.retention.retain("ops", now(), 100) == 1
    assert await sql("select sealed_input from coordinator.inputs") == []
    rows = await sql("select sealed_command, sealed_reply from coordinator.effects")
    assert rows == [(b"", None)]
    assert await sql("select sealed_receipt from coordinator.receipts") == [(b"",)]
    shown = await ledger.reads.inspect(run_id, None)
    assert (shown.run.state, shown.run.outcome, shown.run.output) == (
        RunState.FINISHED,
        "done",
        None,
    )
    assert shown.effects[0].outcome == "accepted"
    assert [receipt.receipt_id for receipt in shown.effects[0].receipts] == [""]
    assert shown.run.erased_at is not None


async def test_a_spent_key_stays_spent(ledger: Ledger, run_id: str) -> None:
    await ended(ledger, run_id, accepted())
    await ledger.retention.retain("ops", now(), 100)
    again = await ledger.admissions.admit(admission())
    assert (again.run_id, again.created) == (run_id, False)
    with pytest.raises(Refused) as other:
        await ledger.admissions.admit(admission(input={"name": "Bob"}))
    assert other.value.code == "idempotency.key-reused"


async def test_a_run_is_erased_once(ledger: Ledger, run_id: str, sql: Sql) -> None:
    await ended(ledger, run_id, accepted())
    assert await ledger.retention.retain("ops", now(), 100) == 1
    assert await ledger.retention.retain("ops", now(), 100) == 0
    kinds = await sql("select kind from coordinator.journal where right(kind, 6) = 'erased'")
    assert sorted(kinds) == [("retention.erased",), ("retention.erased",), ("run.erased",)]


async def test_what_is_open_or_in_doubt_is_kept(ledger: Ledger, run_id: str) -> None:
    assert await ledger.retention.retain("ops", now(), 100) == 0
    await ended(ledger, run_id, unknown())
    assert await ledger.retention.retain("ops", now(), 100) == 0


async def test_a_run_is_kept_until_what_it_was_asked_or_told_has_an_outcome(
    ledger: Ledger, run_id: str
) -> None:
    act = await ledger.acts.begin(run_id, Wish(ActKind.CANCEL, "ops", "no more", "r1"))
    told = await ledger.signals.begin(run_id, SignalWish("paid", "desk", "s1", {"of": 1}))
    await ledger.runs.close(run_id, 1, Closing(RunState.CANCELLED, 9))
    assert await ledger.retention.retain("ops", now(), 100) == 0
    await ledger.acts.progress(act.id)
    assert await ledger.retention.retain("ops", now(), 100) == 0
    await ledger.signals.conclude(told.id, "late")
    assert await ledger.retention.retain("ops", now(), 100) == 1


async def test_an_act_without_an_outcome_keeps_its_run(ledger: Ledger, run_id: str) -> None:
    act = await ledger.acts.begin(run_id, Wish(ActKind.CANCEL, "ops", "no more", "r1"))
    await ledger.runs.close(run_id, 1, Closing(RunState.CANCELLED, 9))
    assert await ledger.retention.retain("ops", now(), 100) == 0
    await ledger.acts.progress(act.id)
    assert await ledger.retention.retain("ops", now(), 100) == 1


async def test_a_read_without_an_answer_keeps_its_run_no_longer_than_its_lease(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    await dispatch(ledger, claim(effect(run_id), READ))
    await ledger.runs.close(run_id, 1, Closing(RunState.EXPIRED, 9))
    assert await ledger.retention.retain("ops", now(), 100) == 0
    await lapse(sql)
    assert await ledger.retention.retain("ops", now(), 100) == 1


async def test_a_failed_run_that_may_be_retried_is_kept(ledger: Ledger, run_id: str) -> None:
    await ended(ledger, run_id, refused(), Closing(RunState.FAILED, 9, failure_code="x"))
    assert await ledger.retention.retain("ops", now(), 100) == 0


async def test_a_failure_after_everything_was_accepted_is_erased(
    ledger: Ledger, run_id: str
) -> None:
    await ended(ledger, run_id, accepted(), Closing(RunState.FAILED, 9, failure_code="x"))
    assert await ledger.retention.retain("ops", now(), 100) == 1


async def test_a_run_under_review_is_kept(ledger: Ledger, run_id: str) -> None:
    await ledger.holds.begin_review("ops", "r")
    await ledger.runs.close(run_id, 1, DONE)
    assert await ledger.retention.retain("ops", now(), 100) == 0


async def test_only_runs_that_ended_before_the_instant_go(ledger: Ledger, run_id: str) -> None:
    before = now()
    await ended(ledger, run_id, accepted())
    assert await ledger.retention.retain("ops", before, 100) == 0


@pytest.mark.parametrize("limit", [0, 101])
async def test_a_limit_out_of_range_is_refused(ledger: Ledger, limit: int) -> None:
    with pytest.raises(Refused) as caught:
        await ledger.retention.retain("ops", now(), limit)
    assert (caught.value.code, caught.value.status) == ("retention.invalid", 400)


async def test_an_instant_that_is_not_over_is_refused(ledger: Ledger) -> None:
    with pytest.raises(Refused) as caught:
        await ledger.retention.retain("ops", now() + timedelta(hours=1), 1)
    assert caught.value.code == "retention.invalid"


def undoable() -> Definition:
    """The definition with a compensation."""
    document = DEFINITION.to_json()
    document["nodes"]["send"]["compensation"] = {"operation": "send", "input": {"input": ""}}
    return Definition.read(document)


def test_what_has_compensations_may_be_rolled_back() -> None:
    assert not may_change(RunState.FINISHED, DEFINITION, all_accepted=True)
    assert may_change(RunState.FINISHED, undoable(), all_accepted=True)
    assert not may_change(RunState.ROLLED_BACK, undoable(), all_accepted=True)


async def test_a_finished_run_that_may_be_rolled_back_is_kept(ledger: Ledger) -> None:
    made = undoable()
    await ledger.packages.apply(Package("sha256:undo", made, Labels(version="undo")), "deployer")
    admitted = await ledger.admissions.admit(admission("undo", expected_revision=made.revision))
    await ended(ledger, admitted.run_id, accepted())
    assert (await ledger.reads.run_status(admitted.run_id, None)).state is RunState.FINISHED
    assert await ledger.retention.retain("ops", now(), 100) == 0
