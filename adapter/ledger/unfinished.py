"""Executions that the ledger holds to be open: compared with Temporal, then flagged or repaired."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

from adapter.ledger.entry import Entry, RunRow, lock_with
from adapter.ledger.pool import Pool, Question, Transaction, Write
from adapter.ledger.queries import queries
from interpreter.contract.records import RunState
from interpreter.contract.runs import workflow_id

_SQL = queries("recovery")
_BEFORE_ALL = "00000000-0000-0000-0000-000000000000"
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An execution that has not ended as far as the ledger knows; ``latest`` is its run's.

    ``created_at`` is when the ledger opened it, before Temporal was given it.
    """

    run_id: str
    workflow: str
    execution: int
    start_state: str
    temporal_run_id: str | None
    run_state: str
    latest: int
    created_at: datetime | None = None

    @property
    def workflow_id(self) -> str:
        """Its Temporal workflow id."""
        return workflow_id(self.workflow, self.run_id, self.execution)


@dataclass(frozen=True, slots=True)
class _Facts:
    now: datetime
    closed: bool
    temporal_run_id: str | None
    uncertain: bool
    waiting: bool


class UnfinishedRuns:
    """Hands out unfinished executions in turn, and writes what was found about them.

    What was found is old by the time it is written, so each write judges again under the run's
    lock: an execution that has ended meanwhile is left alone.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def take(self, limit: int) -> list[Unfinished]:
        """Those that were not looked at for longest; they go to the end of the queue."""
        return await self._pool.ask(Question(_SQL["take_unchecked"], {"limit": limit}, Unfinished))

    async def all(self, page: int = _PAGE) -> AsyncIterator[Unfinished]:
        """Every one that Temporal was given; nothing is written, nobody's turn changes."""
        after: dict[str, str | int] = {"run": _BEFORE_ALL, "execution": 0}
        while True:
            asked = Question(_SQL["unfinished_after"], {**after, "limit": page}, Unfinished)
            found = await self._pool.ask(asked)
            for one in found:
                yield one
            if len(found) < page:
                return
            after = {"run": found[-1].run_id, "execution": found[-1].execution}

    async def require_recovery(self, found: Unfinished, code: str) -> bool:
        """Flag a run whose execution is lost, whatever else it waits for; gives whether it was."""

        async def work(transaction: Transaction) -> bool:
            run, facts = await self._locked(transaction, found)
            flagged = run.state == RunState.RECOVERY_REQUIRED
            if facts.closed or run.closed or run.execution != found.execution or flagged:
                return False
            entry = Entry(run, facts.now, uncertain=facts.uncertain)
            entry.require_recovery()
            entry.event("run.recovery-required", execution=found.execution, code=code)
            entry.journal("run.recovery-required", {}, execution=found.execution, code=code)
            await transaction.commit(*entry.writes())
            return True

        return await self._pool.run(work)

    async def resume(self, found: Unfinished, temporal_run_id: str) -> bool:
        """Show a run whose execution is there after all as going on; gives whether it was."""

        async def work(transaction: Transaction) -> bool:
            run, facts = await self._locked(transaction, found)
            moved = facts.temporal_run_id != temporal_run_id
            flagged = run.state == RunState.RECOVERY_REQUIRED
            if facts.closed or run.closed or not (moved or flagged):
                return False
            entry = Entry(run, facts.now, uncertain=facts.uncertain)
            if flagged:
                entry.stand(RunState.WAITING if facts.waiting else RunState.RUNNING)
                entry.event("run.resumed", execution=found.execution)
            entry.journal("run.rebound", {}, execution=found.execution)
            keys = {"run": found.run_id, "execution": found.execution}
            bound = Write(_SQL["rebind"], {**keys, "temporal_run_id": temporal_run_id})
            await transaction.commit(bound, *entry.writes())
            return True

        return await self._pool.run(work)

    async def _locked(self, transaction: Transaction, found: Unfinished) -> tuple[RunRow, _Facts]:
        keys = {"run": found.run_id, "execution": found.execution}
        facts = Question(_SQL["execution_facts"], keys, _Facts)
        return await lock_with(transaction, found.run_id, facts)
