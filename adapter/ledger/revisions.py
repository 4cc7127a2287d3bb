"""Which revision each run was admitted with, remembered in each process."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from adapter.ledger.entry import require_run_id, unknown_run
from adapter.ledger.pool import Pool, Question
from adapter.ledger.queries import queries

_SQL = queries("packages")
_MOST_REMEMBERED: Final = 4_096


@dataclass(frozen=True, slots=True)
class _Revision:
    revision: str


class Revisions:
    """Revisions of runs, which never change: whoever has read a run's row notes its one."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._known: OrderedDict[str, str] = OrderedDict()

    def note(self, run_id: str, revision: str) -> None:
        """Remember what the row of a run says."""
        self._known[run_id] = revision
        self._known.move_to_end(run_id)
        if len(self._known) > _MOST_REMEMBERED:
            self._known.popitem(last=False)

    async def of(self, run_id: str) -> str:
        """The revision of a run; ActivityError ``run.unknown``, LedgerAway."""
        known = self._known.get(run_id)
        if known is not None:
            return known
        require_run_id(run_id)
        row = await self._pool.one(Question(_SQL["run_revision"], {"run": run_id}, _Revision))
        if row is None:
            raise unknown_run(run_id)
        self.note(run_id, row.revision)
        return row.revision
