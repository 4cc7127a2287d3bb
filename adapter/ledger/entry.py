"""One transaction's entry for a run: its state, steps, events and journal records, in order."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from activities.errors import ActivityError
from adapter.ledger.journal import Chain
from adapter.ledger.pool import Question, Row, Transaction, Write
from adapter.ledger.queries import queries
from interpreter.contract.records import RunState, StepRecord
from interpreter.contract.values import JsonValue

_SQL = queries("runs")
_WAITS = queries("waits")
_SIGNALS = queries("signals")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_OPEN = frozenset({"running", "waiting"})


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run's row as it was locked, whether a restore hold stands, and when this epoch began.

    ``wrapped_key`` is the run's data key under the deployment's key, None once it was erased.
    """

    id: str
    owner: str
    scope: str
    workflow: str
    version: str
    revision: str
    state: str
    execution: int
    deadline_at: datetime
    cancel_requested_at: datetime | None
    key_version: int
    event_sequence: int
    journal_sequence: int
    journal_head: bytes
    held: bool
    position_base: int = 0
    epoch_started_at: datetime | None = None
    wrapped_key: bytes | None = None

    @property
    def position(self) -> int:
        """How far the ledger is with this run; a workflow that saw more met a newer ledger."""
        return self.position_base + self.event_sequence

    @property
    def closed(self) -> bool:
        """True when the run has its final state."""
        return RunState(self.state).final


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a write of projections needs to know; ``known`` are the steps at its sequences."""

    now: datetime
    uncertain: bool
    known: list[JsonValue]


def lock_question(run_id: str, *, share_hold: bool = False) -> Question[RunRow]:
    """Locks a run; ActivityError ``run.unknown`` for an id that can be none."""
    require_run_id(run_id)
    sql = _SQL["lock_run_and_hold" if share_hold else "lock_run"]
    return Question(sql, {"run": run_id}, RunRow)


async def lock_with(
    transaction: Transaction, run_id: str, facts: Question[Row], *, share_hold: bool = False
) -> tuple[RunRow, Row]:
    """Lock a run, then read facts about it, in one round trip.

    Two statements, since one alone would read the facts as they were before it waited for the
    lock. ActivityError ``run.unknown`` for a run that this ledger did not admit.
    """
    lock = lock_question(run_id, share_hold=share_hold)
    run, found = await transaction.both(lock, facts)
    if run is None or found is None:
        raise unknown_run(run_id)
    return run, found


async def lock_run(
    transaction: Transaction, run_id: str, steps: Sequence[StepRecord] = ()
) -> tuple[RunRow, RunFacts]:
    """Lock a run and read what a write of projections needs to know."""
    parameters = {"run": run_id, "sequences": sequences_of(steps)}
    return await lock_with(transaction, run_id, Question(_SQL["run_facts"], parameters, RunFacts))


def sequences_of(steps: Iterable[StepRecord]) -> str:
    """The sequences of some steps as an array literal."""
    return "{" + ",".join(str(step.sequence) for step in steps) + "}"


def require_run_id(run_id: str) -> None:
    """ActivityError ``run.unknown`` for an id that can be none, before the database is asked."""
    try:
        UUID(run_id)
    except ValueError as error:
        raise unknown_run(run_id) from error


def unknown_run(run_id: str) -> ActivityError:
    """The error for a run that this ledger did not admit."""
    return ActivityError(
        "run.unknown",
        "the ledger admitted no run with this id",
        place=run_id[:64],
        remedy="start runs through the service, never directly in Temporal",
    )


def unknown_execution(run_id: str, execution: int) -> ActivityError:
    """The error for an execution that this ledger did not open."""
    return ActivityError(
        "execution.unknown",
        f"the run has no execution {execution}",
        place=run_id,
        remedy="start executions through the service",
    )


class LedgerBehind(ActivityError):
    """A workflow has seen more of its run than the ledger holds: the ledger was restored."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            "ledger.behind",
            "the ledger is older than what this run's workflow has seen of it",
            place=run_id,
            remedy="nothing is sent; see docs/restore.md for how the hold is reviewed and released",
        )


class Entry:
    """Collects what one transaction adds to a locked run, and gives it as writes.

    ``now`` is the database's instant after the locks. Sequences continue where the locked row
    stands, so events and journal have no gaps.
    """

    def __init__(self, run: RunRow, now: datetime, *, uncertain: bool = False) -> None:
        self.run = run
        self.now = now
        self.uncertain = uncertain
        self._state = run.state
        self._cancel_requested_at = run.cancel_requested_at
        self._steps: dict[int, StepRecord] = {}
        self._superseded: list[int] = []
        self._ended_waits: list[JsonValue] = []
        self._events: list[JsonValue] = []
        self._chain = Chain(run.id, run.journal_sequence, run.journal_head)

    def stand(self, wanted: RunState) -> None:
        """Set the run's state; an unknown effect or a recorded cancel shows before ``wanted``."""
        if not wanted.final:
            if self.uncertain:
                wanted = RunState.ATTENTION
            elif self._cancel_requested_at is not None:
                wanted = RunState.CANCEL_REQUESTED
        self._state = wanted.value

    def require_recovery(self) -> None:
        """Show that the run has lost its execution, before any unknown effect and any cancel."""
        self._state = RunState.RECOVERY_REQUIRED.value

    def request_cancel(self) -> None:
        """Record that the run is to be cancelled."""
        self._cancel_requested_at = self.now
        self.stand(RunState.CANCEL_REQUESTED)

    def steps(self, records: Iterable[StepRecord], known: Iterable[JsonValue]) -> None:
        """Add projections and their events; a record that stands already adds nothing.

        A record of another visit at the same sequence stems from an abandoned branch of events
        (protocol rule 1) and is superseded.
        """
        standing = {step.sequence: step for step in map(StepRecord.from_json, known)}
        for record in records:
            before = self._steps.get(record.sequence) or standing.get(record.sequence)
            if before is not None and _stands(before, record):
                continue
            if before is not None and not _same_visit(before, record):
                self._superseded.append(record.sequence)
            self._steps[record.sequence] = record
            if record.kind == "wait" and record.state not in _OPEN:
                self._ended_waits.append(_ended_wait(record))
            self.event(f"step.{record.state}", **_step_data(record))

    def event(self, type_: str, **data: JsonValue) -> None:
        """Add an outbox event; ``data`` holds ids, codes and numbers, never payloads."""
        sequence = self.run.event_sequence + len(self._events) + 1
        self._events.append({"sequence": sequence, "type": type_, "data": data})

    def journal(self, kind: str, refs: dict[str, str], **detail: JsonValue) -> None:
        """Add a journal record; ``refs`` are keyed references."""
        self._chain.append(kind, self.now, refs, detail)

    def writes(self) -> list[Write]:
        """The writes of this entry; the entry is empty again and may go on."""
        keys = {"run": self.run.id, "execution": self.run.execution}
        scope = {"owner": self.run.owner, "scope": self.run.scope, "now": self.now}
        writes = []
        if self._superseded:
            superseded = {**keys, "sequences": self._superseded}
            writes.append(Write(_SQL["supersede_steps"], superseded))
        if self._ended_waits:
            ended = {"run": self.run.id, **scope, "waits": json.dumps(self._ended_waits)}
            writes += [Write(_WAITS["end_waits"], ended), Write(_SIGNALS["completed"], ended)]
        parameters = {
            **keys,
            **scope,
            "state": self._state,
            "cancel_requested_at": self._cancel_requested_at,
            "event_sequence": self.run.event_sequence + len(self._events),
            "steps": json.dumps([_step_row(step) for step in self._steps.values()]),
            "events": json.dumps(self._events),
            **self._chain.columns(),
        }
        writes.append(Write(_SQL["write_entry"], parameters))
        self._start_afresh()
        return writes

    def _start_afresh(self) -> None:
        self.run = replace(
            self.run,
            state=self._state,
            cancel_requested_at=self._cancel_requested_at,
            event_sequence=self.run.event_sequence + len(self._events),
            journal_sequence=self._chain.sequence,
            journal_head=self._chain.head,
        )
        self._steps, self._superseded, self._events = {}, [], []
        self._ended_waits = []
        self._chain = Chain(self.run.id, self.run.journal_sequence, self.run.journal_head)


def _stands(before: StepRecord, record: StepRecord) -> bool:
    """True when ``record`` says nothing new; a late copy never opens a finished step again."""
    late = record.state in _OPEN and before.state not in _OPEN
    return before == record or (late and _same_visit(before, record))


def _same_visit(one: StepRecord, other: StepRecord) -> bool:
    return (one.branch, one.node, one.visit) == (other.branch, other.node, other.visit)


def _ended_wait(step: StepRecord) -> dict[str, JsonValue]:
    """How a wait ended; the code of a resumed one is the id of the signal that it took."""
    visit = f"{step.branch}/{step.node}:{step.visit}"
    resumed = step.outlet == "resumed"
    signal = step.code if resumed and _UUID.fullmatch(step.code) else None
    outcome = step.outlet or ("expired" if step.code == "wait-timeout" else "failed")
    return {"visit": visit, "resolution": outcome, "signal": signal}


def _step_row(step: StepRecord) -> dict[str, JsonValue]:
    return {
        "sequence": step.sequence,
        "branch": step.branch,
        "node": step.node,
        "visit": step.visit,
        "kind": step.kind,
        "state": step.state,
        "outlet": step.outlet,
        "code": step.code,
    }


def _step_data(step: StepRecord) -> dict[str, JsonValue]:
    """What an event tells of a step; its type says the state."""
    row = _step_row(step)
    return {name: row[name] for name in row if name != "state" and row[name] != ""}
