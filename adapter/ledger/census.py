"""The counts that a doctor looks at: what stands, since when, and never what it is about."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from adapter.ledger.pool import Pool, Question
from adapter.ledger.queries import queries

_SQL = queries("recovery")


@dataclass(frozen=True, slots=True)
class Counted:
    """The ledger in numbers, at the database's instant ``now``.

    ``states`` counts runs by state, ``uncertain`` unknown effects, ``unerased`` runs that are over
    and still have payloads; ``open_hints`` are waits whose execution was not told of a hint yet.
    ``oldest_unsealed`` is the first record of the journal that no checkpoint has sealed.
    Instants are the oldest of their kind.
    """

    now: datetime
    deployment: str | None
    epoch: str
    counter: int
    restore_hold: bool
    admissions_hold: bool
    hold_code: str
    held_at: datetime | None
    review_begun_at: datetime | None
    passed_at: datetime | None
    states: dict[str, int]
    reviews: int
    uncertain: int
    failed_starts: int
    pending_starts: int
    oldest_pending_start: datetime | None
    open_acts: int
    oldest_act: datetime | None
    open_signals: int
    oldest_signal: datetime | None
    open_hints: int
    oldest_hint: datetime | None
    oldest_due: datetime | None
    unerased: int
    oldest_unerased: datetime | None
    oldest_unsealed: datetime | None


class Census:
    """Counts what the ledger holds, in one question."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def count(self) -> Counted:
        """The numbers of this moment."""
        found = await self._pool.one(Question(_SQL["census"], {}, Counted))
        assert found is not None, "the migration writes the row"
        return found
