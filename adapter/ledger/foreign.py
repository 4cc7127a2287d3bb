"""What a run met in Temporal that was not sealed for it: journalled once each, and not for ever."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from adapter.crypto import Keyed
from adapter.ledger.entry import Entry, lock_with
from adapter.ledger.pool import Pool, Question, Transaction
from adapter.ledger.queries import queries

_SQL = queries("foreign")
MOST_NOTED: Final = 20
"""Records of this kind in one run's chain: a run may be signalled ten thousand times."""


@dataclass(frozen=True, slots=True)
class _Noted:
    now: datetime
    noted: int
    known: bool


class ForeignPayloads:
    """Notes of payloads that came in clear text, or that are sealed for another place."""

    def __init__(self, pool: Pool, keyed: Keyed) -> None:
        self._pool = pool
        self._keyed = keyed

    async def note(self, run_id: str, reason: str, digest: str) -> None:
        """Journal ``payload.foreign`` with its reason, unless this digest is on record.

        The twenty-first of a run and every later one is left out. ActivityError ``run.unknown``,
        LedgerAway.
        """
        reference = self._keyed.reference("payload", digest)

        async def work(transaction: Transaction) -> None:
            keys = {"run": run_id, "payload": reference}
            run, found = await lock_with(transaction, run_id, Question(_SQL["noted"], keys, _Noted))
            if found.known or found.noted >= MOST_NOTED:
                return
            entry = Entry(run, found.now)
            entry.journal("payload.foreign", {"payload": reference}, code=reason)
            await transaction.commit(*entry.writes())

        await self._pool.run(work)
