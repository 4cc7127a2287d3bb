"""Operators' acts: preconditions in order, written before anything happens, one outcome each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from activities.errors import LedgerUnavailable
from activities.ports import Claim
from adapter.crypto import KeyRing, Sealer
from adapter.errors import Refused
from adapter.ledger import Act, ActKind, Ledger, Package, Wish
from interpreter.contract.effects import ReplyKind
from interpreter.contract.operations import EffectClass, OperationContract, Recovery
from interpreter.contract.records import Closing, RunState
from interpreter.definition.document import Definition, Labels, Operation
from tests.adapter.ledger.words import (
    DEFINITION,
    accepted,
    admission,
    answer,
    claim,
    contract,
    dispatch,
    effect,
    lapse,
    pass_deadline,
    refused,
    unknown,
)

Sql = Callable[..., Awaitable[list[Any]]]
RETRY = Wish(ActKind.RETRY_SAME, "ops", "the line is back", "request-1")
RECONCILE = replace(RETRY, kind=ActKind.RECONCILE)
CANCEL = replace(RETRY, kind=ActKind.CANCEL)
PROVABLE = contract(recovery=Recovery.SAME_COMMAND_AND_RECEIPT, receipt=True, key=True)
WINDOW = PROVABLE.model_copy(update={"receipt_window_seconds": 60})
HELD = contract(recovery=Recovery.HOLD_AFTER_DISPATCH)
EVALUATION = contract(EffectClass.EVALUATION, Recovery.HOLD_AFTER_DISPATCH)


class Stage:
    """A run of a definition whose only operation has a contract of the test's choice."""

    def __init__(self, ledger: Ledger, what: OperationContract, run_id: str) -> None:
        self.ledger = ledger
        self.what = what
        self.run_id = run_id

    async def unknown(self, **changes: Any) -> Claim:
        """An effect that was sent and never answered."""
        sent = claim(effect(self.run_id), self.what, **changes)
        await dispatch(self.ledger, sent)
        await self.ledger.effects.settle(answer(sent, unknown()))
        return sent

    async def begin(self, wish: Wish = RETRY) -> Act:
        """Begin an act."""
        return await self.ledger.acts.begin(self.run_id, wish)

    async def refusal(self, wish: Wish = RETRY) -> str:
        """The code by which an act is refused."""
        with pytest.raises(Refused) as refusal:
            await self.begin(wish)
        return refusal.value.code

    async def state(self) -> tuple[RunState, bool]:
        """The run's state, and whether an effect is unknown."""
        status = await self.ledger.reads.run_status(self.run_id, None)
        return status.state, status.uncertain

    async def journal(self, sql: Sql) -> list[str]:
        """The kinds of the run's audit records that are about acts."""
        rows = await sql(
            "select kind from coordinator.journal where chain = %s and kind like 'act.%%'"
            " order by sequence",
            self.run_id,
        )
        return [kind for (kind,) in rows]


Staged = Callable[[OperationContract], Awaitable[Stage]]


@pytest.fixture
async def staged(database_url: str) -> AsyncIterator[Staged]:
    """Makes stages on one database."""
    keys = KeyRing.generate()
    async with await Ledger.open(database_url, Sealer(keys, "test"), keys, pool_size=4) as ledger:

        async def stage(what: OperationContract) -> Stage:
            operations = {"send": Operation(connection="post", contract=what).to_json()}
            made = Definition.model_validate(DEFINITION.to_json() | {"operations": operations})
            await ledger.packages.apply(Package("sha256:p", made, Labels(version="1")), "deployer")
            asked = admission(expected_revision=made.revision)
            admitted = await ledger.admissions.admit(asked)
            await ledger.admissions.bind_started(admitted.run_id, 1, "temporal-run")
            return Stage(ledger, what, admitted.run_id)

        yield stage


async def test_retry_same_opens_the_effect_for_a_new_generation(staged: Staged) -> None:
    stage = await staged(PROVABLE)
    first = await stage.unknown()
    act = await stage.begin()
    assert (act.visit, act.generation, act.state) == ("main/send:1", 2, "recorded")
    assert await stage.state() == (RunState.RUNNING, True)
    again = await dispatch(stage.ledger, claim(first.effect, stage.what, generation=2))
    assert again.unresolved
    assert again.command == first.command


async def test_the_key_of_the_saved_command_never_changes(staged: Staged) -> None:
    stage = await staged(PROVABLE)
    await stage.unknown()
    before = await stage.ledger.effects.saved(effect(stage.run_id))
    await stage.begin()
    after = await dispatch(stage.ledger, claim(effect(stage.run_id), stage.what, generation=2))
    assert before is not None
    assert after.idempotency_key == before.idempotency_key


@pytest.mark.parametrize(
    ("reply", "outcome", "uncertain"),
    [(accepted(), "accepted", False), (refused(), "unknown", True), (unknown(), "unknown", True)],
)
async def test_an_act_s_outcome_is_what_the_ledger_holds(
    staged: Staged, reply: Any, outcome: str, uncertain: bool
) -> None:
    stage = await staged(PROVABLE)
    await stage.unknown()
    act = await stage.begin()
    assert (await stage.ledger.acts.progress(act.id)).outcome == ""
    sent = claim(effect(stage.run_id), stage.what, generation=2)
    await dispatch(stage.ledger, sent)
    await stage.ledger.effects.settle(answer(sent, reply))
    done = await stage.ledger.acts.progress(act.id)
    assert (done.state, done.outcome) == ("done", outcome)
    assert (await stage.state())[1] is uncertain


async def test_a_repeated_request_is_the_same_act(staged: Staged) -> None:
    stage = await staged(PROVABLE)
    await stage.unknown()
    acts = await asyncio.gather(stage.begin(), stage.begin(), stage.begin())
    assert {act.id for act in acts} == {acts[0].id}
    assert acts[0].generation == 2
    assert await stage.refusal(replace(RETRY, reason="another")) == "idempotency.key-reused"


async def test_the_reason_is_sealed_and_can_be_read_again(staged: Staged, sql: Sql) -> None:
    stage = await staged(PROVABLE)
    await stage.unknown()
    act = await stage.begin(replace(RETRY, reason="canary-reason"))
    assert stage.ledger.acts.reason(act) == "canary-reason"
    stored = await sql("select row_to_json(a)::text from coordinator.acts a")
    journal = await sql("select row_to_json(j)::text from coordinator.journal j")
    assert "canary" not in str(stored) + str(journal)
    assert b"canary".hex() not in str(stored)


async def test_acts_are_audited_before_and_after_and_refusals_too(staged: Staged, sql: Sql) -> None:
    stage = await staged(PROVABLE)
    sent = await stage.unknown()
    act = await stage.begin(RECONCILE)
    await stage.refusal(replace(CANCEL, kind=ActKind.RETRY_SAME, effect="main/none:1"))
    await stage.ledger.effects.settle(answer(sent, accepted()))
    await stage.ledger.acts.conclude(act.id, "confirmed", "accepted")
    assert await stage.refusal(replace(RETRY, request_id="r2")) == "act.not-uncertain"
    assert await stage.journal(sql) == ["act.recorded", "act.concluded", "act.refused"]


async def test_an_act_whose_record_can_not_be_written_does_not_happen(
    staged: Staged, sql: Sql
) -> None:
    stage = await staged(PROVABLE)
    await stage.unknown()
    await sql("alter table coordinator.journal add constraint full_disk check (kind !~ '^act[.]')")
    with pytest.raises(LedgerUnavailable, match=r"ledger\.write-refused"):
        await stage.begin()
    assert await sql("select generation, outcome from coordinator.effects") == [(1, "unknown")]
    assert await sql("select id from coordinator.acts") == []


async def test_an_outcome_is_written_once(staged: Staged) -> None:
    stage = await staged(PROVABLE)
    await stage.unknown()
    act = await stage.begin(RECONCILE)
    await stage.ledger.acts.conclude(act.id, "not-confirmed", "receipt-unresolved")
    await stage.ledger.acts.conclude(act.id, "confirmed", "accepted")
    found = await stage.ledger.acts.act(act.id)
    assert (found.outcome, found.code) == ("not-confirmed", "receipt-unresolved")
    assert await stage.state() == (RunState.ATTENTION, True)


@pytest.mark.parametrize(
    ("what", "code"),
    [(EVALUATION, "act.evaluation-uncertain"), (HELD, "act.not-repeatable")],
)
async def test_what_must_not_be_repeated_is_refused(
    staged: Staged, what: OperationContract, code: str
) -> None:
    stage = await staged(what)
    await stage.unknown()
    assert await stage.refusal() == code


async def test_the_receipt_window_counts_from_the_first_send(staged: Staged, sql: Sql) -> None:
    stage = await staged(WINDOW)
    await stage.unknown()
    await sql("update coordinator.attempts set dispatched_at = dispatched_at - interval '50 s'")
    assert await stage.refusal() == "act.receipt-expired"
    assert ActKind.RECONCILE in await stage.ledger.acts.allowed(stage.run_id)


async def test_an_expired_receipt_is_not_retried(staged: Staged) -> None:
    stage = await staged(PROVABLE)
    sent = claim(effect(stage.run_id), stage.what)
    await dispatch(stage.ledger, sent)
    gone = replace(unknown("receipt-expired"), kind=ReplyKind.RECEIPT_EXPIRED)
    await stage.ledger.effects.settle(answer(sent, gone))
    assert await stage.refusal() == "act.receipt-expired"


async def test_after_the_deadline_a_receipt_may_still_be_read(staged: Staged, sql: Sql) -> None:
    stage = await staged(PROVABLE)
    await stage.unknown()
    await pass_deadline(sql)
    assert await stage.refusal() == "act.deadline-reached"
    assert (await stage.begin(RECONCILE)).state == "recorded"


async def test_after_a_cancel_a_receipt_may_still_be_read(staged: Staged) -> None:
    stage = await staged(PROVABLE)
    await stage.unknown()
    await stage.begin(CANCEL)
    assert await stage.refusal() == "act.cancelled"
    assert (await stage.begin(RECONCILE)).state == "recorded"


async def test_an_effect_of_the_cancel_route_may_be_retried(staged: Staged) -> None:
    stage = await staged(PROVABLE)
    await stage.begin(CANCEL)
    await stage.unknown(after_cancel=True)
    assert (await stage.begin()).generation == 2


async def test_under_a_hold_only_a_receipt_may_be_read(staged: Staged, sql: Sql) -> None:
    stage = await staged(PROVABLE)
    await stage.unknown()
    await sql("update coordinator.control set restore_hold = true")
    assert await stage.refusal() == "act.held"
    assert (await stage.begin(RECONCILE)).state == "recorded"


async def test_an_operation_without_a_receipt_says_so(staged: Staged) -> None:
    stage = await staged(contract())
    await stage.unknown()
    assert await stage.refusal(RECONCILE) == "act.no-receipt"


@pytest.mark.parametrize(
    "made", [contract(EffectClass.EVALUATION, Recovery.HOLD_AFTER_DISPATCH), contract()]
)
async def test_no_remedy_names_an_act_that_would_be_refused(staged: Staged, made: Any) -> None:
    stage = await staged(made)
    await stage.unknown()
    with pytest.raises(Refused) as refused:
        await stage.begin(RECONCILE)
    granted = await stage.ledger.acts.allowed(stage.run_id)
    assert (ActKind.RETRY_SAME in granted) == (made.effect is EffectClass.MUTATION)
    assert "retry" not in refused.value.remedy
    assert "`controls`" in refused.value.remedy


async def test_a_withdrawn_package_sends_nothing(staged: Staged, sql: Sql) -> None:
    stage = await staged(PROVABLE)
    await stage.unknown()
    await stage.ledger.packages.withdraw("reviewed-notice", "deployer")
    assert await stage.refusal() == "act.withdrawn"


@pytest.mark.parametrize("wish", [RETRY, RECONCILE])
async def test_a_retry_under_way_is_not_joined_by_another_act(staged: Staged, wish: Wish) -> None:
    stage = await staged(PROVABLE)
    await stage.unknown()
    await stage.begin()
    assert await stage.refusal(replace(wish, request_id="r2")) == "act.busy"


async def test_nothing_is_done_about_a_closed_run(staged: Staged) -> None:
    stage = await staged(PROVABLE)
    await stage.ledger.runs.close(stage.run_id, 1, Closing(RunState.FINISHED, 9, "done"))
    for wish in (RETRY, RECONCILE, CANCEL):
        assert await stage.refusal(wish) == "act.closed"
    assert await stage.ledger.acts.allowed(stage.run_id) == []


async def test_of_several_unknown_effects_one_has_to_be_named(staged: Staged) -> None:
    stage = await staged(PROVABLE)
    for visit in (1, 2):
        sent = claim(effect(stage.run_id, visit=visit), stage.what, sequence=2 * visit)
        await dispatch(stage.ledger, sent)
        await stage.ledger.effects.settle(answer(sent, unknown()))
    assert await stage.refusal() == "act.effect-ambiguous"
    assert await stage.refusal(replace(RETRY, effect="main/none:1")) == "act.effect-unknown"
    act = await stage.begin(replace(RETRY, effect="main/send:2"))
    assert act.visit == "main/send:2"
    assert await stage.state() == (RunState.ATTENTION, True)


async def test_a_status_allows_what_an_act_would_be_granted(staged: Staged) -> None:
    stage = await staged(PROVABLE)
    assert await stage.ledger.acts.allowed(stage.run_id) == [ActKind.CANCEL]
    await stage.unknown()
    assert await stage.ledger.acts.allowed(stage.run_id) == list(ActKind)
    await stage.begin(CANCEL)
    assert set(await stage.ledger.acts.allowed(stage.run_id)) == {
        ActKind.RECONCILE,
        ActKind.CANCEL,
    }


async def test_a_cancel_that_meets_an_unknown_effect_waits_for_it(staged: Staged) -> None:
    stage = await staged(PROVABLE)
    await stage.unknown()
    act = await stage.begin(CANCEL)
    assert (await stage.ledger.acts.progress(act.id)).outcome == ""
    await stage.ledger.acts.delivered(act.id)
    done = await stage.ledger.acts.progress(act.id)
    assert (done.state, done.outcome) == ("done", "attention")


async def test_a_cancel_s_outcome_is_the_end_of_the_run(staged: Staged) -> None:
    stage = await staged(PROVABLE)
    act = await stage.begin(CANCEL)
    await stage.ledger.runs.close(stage.run_id, 1, Closing(RunState.CANCELLED, 9))
    assert (await stage.ledger.acts.progress(act.id)).outcome == "cancelled"


async def test_a_retry_that_no_execution_can_carry_out_is_taken_back(staged: Staged) -> None:
    stage = await staged(PROVABLE)
    await stage.unknown()
    act = await stage.begin()
    await stage.ledger.acts.take_back(act.id)
    found = await stage.ledger.acts.act(act.id)
    assert (found.state, found.code) == ("refused", "execution-closed")
    assert await stage.state() == (RunState.ATTENTION, True)
    assert (await stage.begin(replace(RETRY, request_id="r2"))).generation == 3


async def test_a_retry_that_may_be_sending_is_not_taken_back(staged: Staged, sql: Sql) -> None:
    stage = await staged(PROVABLE)
    await stage.unknown()
    act = await stage.begin()
    await dispatch(stage.ledger, claim(effect(stage.run_id), stage.what, generation=2))
    await stage.ledger.acts.take_back(act.id)
    assert (await stage.ledger.acts.act(act.id)).outcome == ""
    await lapse(sql)
    await stage.ledger.acts.take_back(act.id)
    assert (await stage.ledger.acts.act(act.id)).state == "refused"


async def test_a_pending_act_is_given_to_one_courier_at_a_time(staged: Staged, sql: Sql) -> None:
    stage = await staged(PROVABLE)
    act = await stage.begin(CANCEL)
    assert await stage.ledger.acts.pending() == []
    await sql("update coordinator.acts set due_at = clock_timestamp()")
    taken = await asyncio.gather(stage.ledger.acts.pending(), stage.ledger.acts.pending())
    assert sorted(len(acts) for acts in taken) == [0, 1]
    assert [one.id for acts in taken for one in acts] == [act.id]


async def test_a_late_answer_is_found_and_may_be_brought_to_its_run(staged: Staged) -> None:
    stage = await staged(PROVABLE)
    sent = await stage.unknown()
    await stage.ledger.effects.settle(answer(sent, accepted()))
    [late] = await stage.ledger.acts.late_answers(0)
    assert (late.run_id, late.visit) == (stage.run_id, "main/send:1")
    act = await stage.begin(RECONCILE)
    assert (act.visit, act.outcome) == ("main/send:1", "")
    assert (await stage.ledger.acts.progress(act.id)).outcome == ""
