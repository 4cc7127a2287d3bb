"""Projections, waits, cancel and the end of a run: the writes that belong to no effect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from activities.ports import ObservationDue, OpenedWait
from adapter.crypto import Keyed
from adapter.ledger import closings
from adapter.ledger.ahead import ahead
from adapter.ledger.entry import Entry, LedgerBehind, RunRow, lock_run
from adapter.ledger.hints import source_digest
from adapter.ledger.holds import HoldCode, Holds
from adapter.ledger.pool import Pool, Question, Transaction, Write
from adapter.ledger.queries import queries
from adapter.ledger.run_keys import RunKeys
from adapter.ledger.signals import Signals
from interpreter.contract.calls import EndedWait, OnRecord
from interpreter.contract.effects import VisitRef
from interpreter.contract.records import Closed, Closing, RunState, StepRecord
from interpreter.contract.values import JsonValue

_SQL = queries("waits")

CLOSED: Final = "closed"
"""The resolution of a wait whose run ended first."""

_CANCELLED: Final = "cancelled"
_EXPIRED: Final = "expired"


@dataclass(frozen=True, slots=True)
class WaitFacts:
    """A wait as it stands, and the instant to judge it by.

    ``source_read_at`` is when any wait of the run has read the same source last, ``stopped`` is
    true where a cancel is on record that has ended no wait yet: it is to end this one.
    """

    now: datetime
    opened_at: datetime
    due_at: datetime | None
    observations: int
    observed_at: datetime | None
    resolution: str | None
    hints: int
    hints_read: int
    source_read_at: datetime | None
    deadline_at: datetime
    stopped: bool


@dataclass(frozen=True, slots=True)
class Counted:
    """How often a wait's source was read, and whether a hint came since the reading began."""

    observations: int
    hinted: bool


class Runs:
    """``RunLedger`` over PostgreSQL; every method is one transaction.

    Raises ActivityError ``run.unknown`` or ``execution.unknown``, and LedgerUnavailable when the
    fate of a write is not known. Writes about a run that has ended are ignored.
    """

    def __init__(
        self, pool: Pool, run_keys: RunKeys, keyed: Keyed, holds: Holds, signals: Signals
    ) -> None:
        self._pool = pool
        self._signals = signals
        self._holds = holds
        self._run_keys = run_keys
        self._keyed = keyed

    async def open_wait(self, opened: OpenedWait) -> None:
        """Write an opened wait (idempotent) and the run's state."""
        await self._pool.run(lambda transaction: self._open_wait(transaction, opened))

    async def record(self, run_id: str, state: RunState, steps: Sequence[StepRecord]) -> None:
        """Write projections and the run's state (idempotent by sequence)."""

        async def work(transaction: Transaction) -> None:
            run, facts = await lock_run(transaction, run_id, steps)
            if run.closed:
                return
            entry = Entry(run, facts.now, uncertain=facts.uncertain)
            entry.stand(state)
            entry.steps(steps, facts.known)
            await transaction.commit(*entry.writes())

        await self._pool.run(work)

    async def observation_due(
        self, opened: OpenedWait, interval: float, floor: float, hinted: bool, at: datetime
    ) -> ObservationDue:
        """Open the wait if it is not, and say when its source may be read next.

        An open wait costs a read and no write, so that a poll of a year leaves nothing behind
        (protocol rule 12). A hint on record counts like one that the execution was told of. Now is
        the later of the database's clock and ``at``.
        """
        question = Question(_SQL["wait_facts"], _keys(opened.wait), WaitFacts)
        facts = await self._pool.one(question)
        if facts is None:
            await self.open_wait(opened)
            facts = await self._pool.one(question)
        if facts is None:
            # The run ended before the wait was opened.
            return ObservationDue(0.0, 0, 0.0, CLOSED)
        now = max(facts.now, at)
        remaining = math.inf if facts.due_at is None else (facts.due_at - now).total_seconds()
        hinted = hinted or facts.hints > facts.hints_read
        delay = 0.0 if facts.resolution else _delay(facts, now, interval, floor, hinted)
        return ObservationDue(
            delay,
            facts.observations,
            max(0.0, remaining),
            facts.resolution,
            facts.hints,
            facts.deadline_at <= now,
        )

    async def observed(self, wait: VisitRef, at: datetime, hints: int) -> bool:
        """Count one observation, which took in ``hints`` hints; gives whether more have come."""
        counted = {**_keys(wait), "at": at, "hints": hints}
        row = await self._pool.one(Question(_SQL["count_observation"], counted, Counted))
        return row is not None and row.hinted

    async def end_wait(self, wait: VisitRef, *, after_cancel: bool = False) -> EndedWait:
        """End a signal wait whose time is over; a signal that is on record by now came first."""
        return await self._signals.end_wait(wait, after_cancel=after_cancel)

    async def note_signal(self, run_id: str, name: str, verdict: str) -> None:
        """Journal that a signal from Temporal's own tools was of no use."""
        await self._signals.note_dropped(run_id, name, verdict)

    async def resolve_wait(self, wait: VisitRef, resolution: str) -> str:
        """Record how a wait ended, first writer wins; gives the resolution on record.

        ``closed`` when the run ended first, and ``cancelled``, though that is not on record yet, of
        a wait that expires after a cancel. A later, different answer is journalled.
        """
        return await self._pool.run(
            lambda transaction: self._resolve_wait(transaction, wait, resolution)
        )

    async def request_cancel(self, run_id: str, reason: str) -> None:
        """Record a cancel; a no-op once recorded or closed. The reason is kept as a keyed hash."""

        async def work(transaction: Transaction) -> None:
            run, facts = await lock_run(transaction, run_id)
            if run.closed or run.cancel_requested_at is not None:
                return
            entry = Entry(run, facts.now, uncertain=facts.uncertain)
            entry.request_cancel()
            entry.event("run.cancel-requested")
            reference = self._keyed.reference("reason", reason)
            entry.journal("run.cancel-requested", {"reason": reference})
            await transaction.commit(*entry.writes())

        await self._pool.run(work)

    async def ahead(self, run_id: str, after: int) -> dict[str, OnRecord]:
        """The calls and ended waits on record beyond a sequence number, by visit."""
        return await self._pool.run(
            lambda transaction: ahead(transaction, self._run_keys, run_id, after)
        )

    async def close(self, run_id: str, execution: int, closing: Closing) -> Closed:
        """End an execution, insert-once; gives the outcome on record.

        ``attention`` when an effect is unknown: the end is kept as wanted, and a later answer
        carries it out. LedgerBehind, and a hold, when the workflow has seen more than the ledger
        holds: what the run did could not be told from it.
        """
        try:
            return await self._pool.run(
                lambda transaction: closings.close(
                    transaction, self._run_keys, run_id, execution, closing
                )
            )
        except LedgerBehind:
            await self._holds.place(HoldCode.LEDGER_BEHIND)
            raise

    async def _open_wait(self, transaction: Transaction, opened: OpenedWait) -> None:
        steps = (*opened.steps, _waiting(opened))
        run, facts = await lock_run(transaction, opened.wait.run_id, steps)
        if run.closed:
            return
        source = None if opened.source is None else source_digest(self._keyed, opened.source)
        if source is not None:
            await transaction.write(Write(_SQL["share_source"], {"source_digest": source}))
        keys = _keys(opened.wait)
        standing = await transaction.one(Question(_SQL["wait_facts"], keys, WaitFacts))
        entry = Entry(run, facts.now, uncertain=facts.uncertain)
        entry.steps(steps, facts.known)
        writes: list[Write] = []
        if standing is None:
            wait = {**_owned(run, opened.wait, facts.now), "kind": opened.kind}
            about = {"due_at": opened.due_at, "source_digest": source}
            writes.append(Write(_SQL["open_wait"], {**wait, **about}))
            due = opened.due_at.isoformat() if opened.due_at else None
            entry.event("wait.opened", **_place(opened.wait), kind=opened.kind, dueAt=due)
        if standing is None or standing.resolution is None:
            entry.stand(opened.state)
        await transaction.commit(*writes, *entry.writes())

    async def _resolve_wait(self, transaction: Transaction, wait: VisitRef, resolution: str) -> str:
        run, facts = await lock_run(transaction, wait.run_id)
        standing = await transaction.one(Question(_SQL["wait_facts"], _keys(wait), WaitFacts))
        on_record = standing.resolution if standing else None
        if on_record is None and run.closed:
            on_record = CLOSED
        entry = Entry(run, facts.now, uncertain=facts.uncertain)
        refs = {"step": self._keyed.reference("step", wait.id)}
        if on_record == resolution:
            return on_record
        stopped = standing is not None and on_record is None and standing.stopped
        if stopped and resolution == _EXPIRED:
            # The execution is about to hear of the cancel, which then ends this wait.
            return _CANCELLED
        if on_record is not None:
            entry.journal("wait.late", refs, resolution=resolution, onRecord=on_record)
            await transaction.commit(*entry.writes())
            return on_record
        entry.event("wait.resolved", **_place(wait), resolution=resolution)
        entry.journal("wait.resolved", refs, resolution=resolution)
        resolved = {**_owned(run, wait, facts.now), "resolution": resolution}
        await transaction.commit(Write(_SQL["resolve_wait"], resolved), *entry.writes())
        return resolution


def _waiting(opened: OpenedWait) -> StepRecord:
    wait = opened.wait
    return StepRecord(opened.sequence, wait.branch, wait.node, wait.visit, "wait", "waiting")


def _delay(facts: WaitFacts, now: datetime, interval: float, floor: float, hinted: bool) -> float:
    """Seconds until the next reading (design section 6)."""
    if facts.observed_at is None:
        due = facts.opened_at if hinted else facts.opened_at + timedelta(seconds=interval)
    else:
        pause = floor if hinted else max(interval, floor)
        due = facts.observed_at + timedelta(seconds=pause)
    if facts.source_read_at is not None:
        due = max(due, facts.source_read_at + timedelta(seconds=floor))
    return max(0.0, (due - now).total_seconds())


def _keys(wait: VisitRef) -> dict[str, JsonValue]:
    return {"run": wait.run_id, "visit": wait.id}


def _owned(run: RunRow, wait: VisitRef, now: datetime) -> dict[str, JsonValue]:
    return {**_keys(wait), "owner": run.owner, "scope": run.scope, "now": now}


def _place(wait: VisitRef) -> dict[str, JsonValue]:
    return {"branch": wait.branch, "node": wait.node, "visit": wait.visit}
