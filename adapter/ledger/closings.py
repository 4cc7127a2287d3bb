"""How an execution ends: once, in the first writer's words, and never over an unknown effect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from adapter.crypto import RunSealer
from adapter.ledger.entry import (
    Entry,
    LedgerBehind,
    RunRow,
    lock_question,
    sequences_of,
    unknown_execution,
    unknown_run,
)
from adapter.ledger.pool import Question, Transaction, Write
from adapter.ledger.queries import queries
from adapter.ledger.run_keys import RunKeys
from adapter.ledger.verdicts import RESTORED
from interpreter.contract.records import Closed, Closing, RunState, StepRecord
from interpreter.contract.values import JsonValue

_SQL = queries("runs")
_UNANSWERED = "closed-without-answer"


@dataclass(frozen=True, slots=True)
class ClosingFacts:
    """An execution's end so far, and what the run's effects allow it to be.

    ``unanswered`` holds [visit, effect class] of what may have been sent and has no answer,
    ``predating`` the visits of mutations that have no outcome and are older than the latest review:
    a restore may have taken their answers.
    """

    now: datetime
    closing_state: str | None
    closed: bool
    outcome: str
    sealed_output: bytes | None
    failure_code: str
    changed_something: bool
    uncertain_mutation: bool
    uncertain_evaluation: bool
    unanswered: list[JsonValue]
    predating: list[JsonValue]
    known: list[JsonValue]


@dataclass(frozen=True, slots=True)
class ClosedRow:
    """The end on record of an execution."""

    state: str
    outcome: str
    sealed_output: bytes | None
    failure_code: str


def end_of(facts: ClosingFacts, wanted: RunState) -> RunState:
    """The state an execution may end in, or ``attention`` while it must not end.

    Computed from the ledger's effects, not from the workflow's memory (protocol rule 1), which can
    only add that something was changed: a restored ledger may have lost it. An evaluation changes
    nothing that a person could look up, so a cancel ends over an unknown one, as
    ``cancelled-after-effect``.
    """
    if facts.uncertain_mutation:
        return RunState.ATTENTION
    if wanted in _CANCELLED:
        changed = facts.changed_something or wanted is RunState.CANCELLED_AFTER_EFFECT
        return RunState.CANCELLED_AFTER_EFFECT if changed else RunState.CANCELLED
    return RunState.ATTENTION if facts.uncertain_evaluation else wanted


_CANCELLED = frozenset({RunState.CANCELLED, RunState.CANCELLED_AFTER_EFFECT})


async def close(
    transaction: Transaction, run_keys: RunKeys, run_id: str, execution: int, closing: Closing
) -> Closed:
    """Write the end of an execution; gives the one on record.

    A cancel that is on record came before an end that knows nothing of it.
    """
    lock, asked = lock_question(run_id), _question(run_id, execution, closing.steps)
    run, found = await transaction.both(lock, asked)
    if run is None:
        raise unknown_run(run_id)
    facts = _required(found, run_id, execution)
    sealer = run_keys.sealer(run_id, run.wrapped_key)
    if closing.seen > run.position:
        raise LedgerBehind(run_id)
    if facts.closed:
        return _opened(sealer, execution, facts.closing_state or "", facts)
    closing = _under_cancel(run, closing)
    if closing.changed:
        closing = replace(closing, state=RunState.CANCELLED_AFTER_EFFECT)
    if closing.state not in _CANCELLED:
        # Only a cancelled end says whether anything was changed.
        facts = replace(facts, predating=[])
    writes = _declarations(run, facts)
    facts = _with_declared(facts)
    state = end_of(facts, closing.state)
    entry = Entry(run, facts.now, uncertain=facts.uncertain_mutation or facts.uncertain_evaluation)
    entry.steps(closing.steps, facts.known)
    if state is RunState.ATTENTION:
        wanted = Closed(state, closing.outcome, closing.output, closing.failure_code)
        if facts.closing_state == closing.state.value and not writes:
            return wanted
        entry.stand(RunState.ATTENTION)
        _tell(entry, RunState.ATTENTION, closing)
        kept = _closing_write(sealer, run, execution, closing, closing.state, None, facts.now)
        await transaction.commit(*writes, kept, *entry.writes())
        return wanted
    if execution == run.execution:
        entry.stand(state)
    _tell(entry, state, closing)
    ended = _closing_write(sealer, run, execution, closing, state, facts.now, facts.now)
    await transaction.commit(*writes, ended, *entry.writes())
    return Closed(state, closing.outcome, closing.output, closing.failure_code)


def _under_cancel(run: RunRow, closing: Closing) -> Closing:
    """The end that a run may have of which a cancel is on record, without a finish or an output."""
    known = closing.despite_cancel or closing.state in _CANCELLED
    if run.cancel_requested_at is None or known:
        return closing
    steps = tuple(step for step in closing.steps if step.kind != "finish")
    return Closing(RunState.CANCELLED, closing.sequence, steps=steps, seen=closing.seen)


async def conclude_wanted(transaction: Transaction, entry: Entry) -> list[Write]:
    """The writes that end a run which waited for its last unknown effect, or none."""
    run = entry.run
    found = await transaction.one(_question(run.id, run.execution, ()))
    facts = _required(found, run.id, run.execution)
    if facts.closed or facts.closing_state is None:
        return []
    state = end_of(facts, RunState(facts.closing_state))
    if state is RunState.ATTENTION:
        return []
    entry.stand(state)
    entry.event(f"run.{state.value}", outcome=facts.outcome, code=facts.failure_code)
    entry.journal("run.closed", {}, state=state.value, outcome=facts.outcome)
    keys = {"run": run.id, "execution": run.execution, "state": state.value, "now": facts.now}
    return [Write(_SQL["conclude_execution"], keys), *entry.writes()]


async def closed_answer(transaction: Transaction, run: RunRow, run_keys: RunKeys) -> JsonValue:
    """What ``run-closed`` carries: state, outcome, output and failure code on record."""
    keys = {"run": run.id, "execution": run.execution}
    row = await transaction.one(Question(_SQL["closed_execution"], keys, ClosedRow))
    if row is None:
        return {"state": run.state, "outcome": "", "output": None, "failureCode": ""}
    sealer = run_keys.sealer(run.id, run.wrapped_key)
    closed = _opened(sealer, run.execution, row.state, row)
    return {
        "state": closed.state.value,
        "outcome": closed.outcome,
        "output": closed.output,
        "failureCode": closed.failure_code,
    }


def _question(run_id: str, execution: int, steps: Sequence[StepRecord]) -> Question[ClosingFacts]:
    keys = {"run": run_id, "execution": execution, "sequences": sequences_of(steps)}
    return Question(_SQL["closing_facts"], keys, ClosingFacts)


def _required(facts: ClosingFacts | None, run_id: str, execution: int) -> ClosingFacts:
    if facts is None:
        raise unknown_execution(run_id, execution)
    return facts


def _with_declared(facts: ClosingFacts) -> ClosingFacts:
    """The facts after what has no answer was declared unknown."""
    classes = {effect for _, effect in facts.unanswered}
    if facts.predating:
        classes.add("mutation")
    return replace(
        facts,
        uncertain_mutation=facts.uncertain_mutation or "mutation" in classes,
        uncertain_evaluation=facts.uncertain_evaluation or "evaluation" in classes,
        changed_something=facts.changed_something or "evaluation" in classes,
    )


def _declarations(run: RunRow, facts: ClosingFacts) -> list[Write]:
    unanswered = [visit for visit, _ in facts.unanswered]
    restored = [visit for visit in facts.predating if visit not in unanswered]
    return [
        Write(
            _SQL["declare_unknown"],
            {"run": run.id, "visits": visits, "now": facts.now, "code": code},
        )
        for visits, code in ((unanswered, _UNANSWERED), (restored, RESTORED))
        if visits
    ]


def _tell(entry: Entry, state: RunState, closing: Closing) -> None:
    told: dict[str, JsonValue] = {"outcome": closing.outcome, "code": closing.failure_code}
    entry.event(f"run.{state.value}", **told)
    kind = "run.closing-wanted" if state is RunState.ATTENTION else "run.closed"
    entry.journal(kind, {}, state=state.value, wanted=closing.state.value, **told)


def _closing_write(
    sealer: RunSealer,
    run: RunRow,
    execution: int,
    closing: Closing,
    state: RunState,
    closed_at: datetime | None,
    now: datetime,
) -> Write:
    last = max([closing.sequence, *(step.sequence for step in closing.steps)])
    output = None
    if closing.output is not None:
        output = sealer.seal(closing.output, "output", str(execution))
    parameters = {
        "run": run.id,
        "execution": execution,
        "state": state.value,
        "last": last,
        "outcome": closing.outcome,
        "failure_code": closing.failure_code,
        "failure_place": closing.failure_place,
        "sealed_output": output,
        "closed_at": closed_at,
        "now": now,
    }
    return Write(_SQL["close_execution"], parameters)


def _opened(
    sealer: RunSealer, execution: int, state: str, record: ClosingFacts | ClosedRow
) -> Closed:
    output = None
    if record.sealed_output is not None:
        output = sealer.open(record.sealed_output, "output", str(execution))
    return Closed(RunState(state), record.outcome, output, record.failure_code)
