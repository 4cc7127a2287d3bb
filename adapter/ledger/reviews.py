"""Reviewing runs under a restore hold: what became of each, judged from the ledger alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from adapter.ledger import closings
from adapter.ledger.entry import Entry, RunRow, lock_with
from adapter.ledger.holds import Attested, Holds
from adapter.ledger.pool import Pool, Question, Transaction, Write
from adapter.ledger.queries import queries
from adapter.ledger.run_keys import RunKeys
from interpreter.contract.records import Closing, RunState
from interpreter.contract.values import JsonValue

_SQL = queries("recovery")
_RUNS = queries("runs")
_BATCH: Final = 100
_LIFT: Final = 1_000_000
"""More than a workflow can have seen of a run: its position is above all that from now on."""

_UNSETTLED: Final = "unsettled-at-restore"
_LOST: Final = "execution-lost"
_AFTER_EVERY_STEP: Final = 2**53


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What a review came to, in counts of runs.

    ``cleared`` may go on, ``ended`` had lost their execution and are closed, ``remaining`` still
    have an unknown effect or a send that may be under way.
    """

    cleared: int
    ended: int
    remaining: int

    def to_json(self) -> dict[str, JsonValue]:
        """``{cleared, ended, remaining}``."""
        return {"cleared": self.cleared, "ended": self.ended, "remaining": self.remaining}


@dataclass(frozen=True, slots=True)
class ReviewFacts:
    """A run under review: whether something may still be sending or is unknown.

    ``unsettled`` names effects that were dispatched, whose lease is over and that have no answer,
    and those that were open for a retry of their command.
    """

    now: datetime
    sending: bool
    uncertain: bool
    unsettled: list[str]


@dataclass(frozen=True, slots=True)
class _Run:
    run_id: str


class Reviews:
    """Completes the review of executions after a restore."""

    def __init__(self, pool: Pool, run_keys: RunKeys, holds: Holds) -> None:
        self._pool = pool
        self._run_keys = run_keys
        self._holds = holds

    async def complete(self, actor: str, attested: Attested) -> Reviewed:
        """Go through every run under review, each in its own transaction.

        Nothing is sent and nothing goes on before the hold is released. Repeating it is harmless.
        Refused as ``Holds.begin_completing`` says.
        """
        await self._holds.begin_completing(actor, attested)
        counts = {"cleared": 0, "ended": 0, "remaining": 0}
        async for run_id in self._under_review():
            counts[await self._review(run_id)] += 1
        reviewed = Reviewed(**counts)
        await self._holds.completed(actor, attested, reviewed.to_json())
        return reviewed

    async def _under_review(self) -> AsyncIterator[str]:
        after = "00000000-0000-0000-0000-000000000000"
        while True:
            keys = {"after": after, "limit": _BATCH}
            runs = await self._pool.ask(Question(_SQL["open_reviews"], keys, _Run))
            for run in runs:
                yield run.run_id
            if len(runs) < _BATCH:
                return
            after = runs[-1].run_id

    async def _review(self, run_id: str) -> str:
        async def work(transaction: Transaction) -> str:
            facts_of = Question(_SQL["review_facts"], {"run": run_id}, ReviewFacts)
            run, facts = await lock_with(transaction, run_id, facts_of)
            if facts.sending:
                return "remaining"
            keys = {"run": run_id, "now": facts.now}
            if not run.closed:
                await transaction.write(Write(_SQL["lift_position"], {**keys, "lift": _LIFT}))
            uncertain = facts.uncertain or bool(facts.unsettled)
            entry = Entry(run, facts.now, uncertain=uncertain)
            if facts.unsettled:
                await transaction.write(self._declared(entry, facts))
            if uncertain:
                if run.state != RunState.RECOVERY_REQUIRED and not run.closed:
                    entry.stand(RunState.ATTENTION)
                await transaction.commit(*entry.writes())
                return "remaining"
            cleared = Write(_SQL["clear_review"], keys)
            if run.state == RunState.RECOVERY_REQUIRED:
                await transaction.write(cleared)
                await self._end(transaction, run)
                return "ended"
            entry.journal("run.reviewed", {})
            await transaction.commit(cleared, *entry.writes())
            return "cleared"

        return await self._pool.run(work)

    def _declared(self, entry: Entry, facts: ReviewFacts) -> Write:
        for visit in facts.unsettled:
            entry.event("effect.unknown", effect=visit, code=_UNSETTLED)
        entry.journal("effect.unknown", {}, code=_UNSETTLED, count=len(facts.unsettled))
        declared = {"run": entry.run.id, "now": facts.now, "code": _UNSETTLED}
        return Write(_RUNS["declare_unknown"], {**declared, "visits": facts.unsettled})

    async def _end(self, transaction: Transaction, run: RunRow) -> None:
        """Close a run whose execution is lost and whose effects are all known."""
        cancelled = run.cancel_requested_at is not None
        state = RunState.CANCELLED if cancelled else RunState.FAILED
        closing = Closing(state, _AFTER_EVERY_STEP, failure_code="" if cancelled else _LOST)
        await closings.close(transaction, self._run_keys, run.id, run.execution, closing)
