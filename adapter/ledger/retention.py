"""Retention: destroying the data keys of runs that are over; what proves that they were stays."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from adapter.errors import Refused
from adapter.ledger.definitions import Definitions
from adapter.ledger.entry import Entry, lock_run
from adapter.ledger.holds import FINAL_STATES, Holds
from adapter.ledger.pool import Pool, Question, Transaction, Write
from adapter.ledger.queries import queries
from adapter.ledger.run_keys import RunKeys
from interpreter.contract.records import RunState
from interpreter.contract.values import JsonValue
from interpreter.definition.document import Definition
from interpreter.definition.nodes import CallNode

_SQL = queries("retention")
_ACTS = queries("acts")
MOST_ERASED: Final = 100
_PAGE: Final = 100
_FIRST = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True, slots=True)
class _Erasable:
    run_id: str
    revision: str
    state: str
    closed_at: datetime
    all_accepted: bool


@dataclass(frozen=True, slots=True)
class _Now:
    now: datetime


def may_change(state: RunState, definition: Definition, *, all_accepted: bool) -> bool:
    """True while a run that has ended may still be retried or rolled back.

    A failed run may be retried, unless all that it sent was accepted: then its failure is one of
    the definition, and comes again. Whatever has compensations may be rolled back until it was.
    """
    if state is RunState.ROLLED_BACK:
        return False
    calls = (node for node in definition.nodes.values() if isinstance(node, CallNode))
    if any(call.compensation is not None for call in calls):
        return True
    return state is RunState.FAILED and not all_accepted


@dataclass(frozen=True, slots=True)
class _ErasedBefore:
    erased_before: datetime | None


class Retention:
    """Erases runs: their data key is destroyed, and what it sealed is removed.

    Ids, states, digests, times and spent keys stay. Whatever else holds a copy of what was sealed,
    a history in Temporal or an export, can not be opened without the key.
    """

    def __init__(
        self, pool: Pool, definitions: Definitions, holds: Holds, run_keys: RunKeys
    ) -> None:
        self._pool = pool
        self._run_keys = run_keys
        self._definitions = definitions
        self._holds = holds

    async def retain(self, actor: str, before: datetime, limit: int) -> int:
        """Erase up to ``limit`` (1 to 100) runs that ended before an instant; gives how many.

        Refused ``retention.invalid`` for a limit out of range or an instant that is not over.
        ``actor`` is a keyed reference; each run's journal says when it was erased.
        """
        now = await self._pool.one(Question(_ACTS["instant"], {}, _Now))
        if not 1 <= limit <= MOST_ERASED or now is None or before > now.now:
            raise Refused(
                "retention.invalid",
                f"an instant that is over and a limit of 1 to {MOST_ERASED} are wanted",
                place="/before",
                remedy="name an instant in the past, and repeat until nothing is erased",
                status=400,
            )
        asked: dict[str, JsonValue] = {"before": before.isoformat(), "limit": limit}
        await self._holds.note("retention.asked", actor, asked)
        erased = await self._erase_all(actor, before, limit)
        await self._holds.note("retention.erased", actor, {"runs": erased})
        return erased

    async def erase_again(self, actor: str) -> int:
        """Erase what had been erased before a restore brought it back; gives how many runs.

        What is known is the instant up to which runs were erased (see the watermark), so each run
        that ended before it is erased if it can be; repeating it is harmless (protocol rule 12).
        """
        found = await self._pool.one(Question(_SQL["erased_before"], {}, _ErasedBefore))
        if found is None or found.erased_before is None:
            return 0
        erased = await self._erase_all(actor, found.erased_before, None)
        if erased:
            await self._holds.note("retention.erased-again", actor, {"runs": erased})
        return erased

    async def note_erased(self, before: datetime) -> None:
        """Keep in mind that runs which ended before an instant had been erased."""
        keys = {"before": before}
        await self._pool.ask(Question(_SQL["note_erased"], keys, _ErasedBefore))

    async def _erase_all(self, actor: str, before: datetime, limit: int | None) -> int:
        erased = 0
        place = (datetime.min.replace(tzinfo=UTC), _FIRST)
        while limit is None or erased < limit:
            page = await self._page(before, place)
            for run in page:
                if erased != limit and not await self._changeable(run):
                    erased += await self._erase(run, actor)
            if len(page) < _PAGE:
                break
            place = (page[-1].closed_at, page[-1].run_id)
        return erased

    async def _page(self, before: datetime, place: tuple[datetime, str]) -> list[_Erasable]:
        at, run_id = place
        parameters = {
            "before": before,
            "after_at": at,
            "after": run_id,
            "final": FINAL_STATES,
            "limit": _PAGE,
        }
        return await self._pool.ask(Question(_SQL["erasable"], parameters, _Erasable))

    async def _changeable(self, run: _Erasable) -> bool:
        definition = await self._definitions.get(run.revision)
        return may_change(RunState(run.state), definition, all_accepted=run.all_accepted)

    async def _erase(self, erasable: _Erasable, actor: str) -> bool:
        async def work(transaction: Transaction) -> bool:
            run, facts = await lock_run(transaction, erasable.run_id)
            if not run.closed or facts.uncertain:
                return False
            entry = Entry(run, facts.now)
            entry.journal("run.erased", {"actor": actor})
            keys = {"run": run.id, "now": facts.now, "closed_at": erasable.closed_at}
            await transaction.commit(Write(_SQL["erase"], keys), *entry.writes())
            return True

        erased = await self._pool.run(work)
        if erased:
            self._run_keys.forget(erasable.run_id)
        return erased
