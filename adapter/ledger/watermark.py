"""The ledger's mark: how far it is, told in a way that Temporal can keep a copy of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from adapter.ledger.pool import Pool, Question
from adapter.ledger.queries import queries
from interpreter.contract.records import LedgerMark
from interpreter.contract.values import JsonValue

_SQL = queries("recovery")


@dataclass(frozen=True, slots=True)
class Waterline:
    """The ledger's mark, and what it knows of the copy in Temporal.

    ``marked_epoch`` and ``marked_counter`` are of the last copy that Temporal confirmed, ``known``
    is every epoch that the ledger has had or has seen there. ``held`` and ``review_begun`` tell of
    a restore hold. Runs that ended before ``erased_before`` were erased as far as they could be.
    """

    epoch: str
    counter: int
    marked_epoch: str | None
    held: bool
    review_begun: bool
    known: list[str]
    erased_before: datetime | None = None
    marked_counter: int | None = None

    @property
    def mark(self) -> LedgerMark:
        """What Temporal is to keep."""
        return LedgerMark(self.epoch, self.counter, self.erased_before)


@dataclass(frozen=True, slots=True)
class _Instant:
    now: datetime


@dataclass(frozen=True, slots=True)
class _Counted:
    counter: int


class Watermark:
    """Reads and ticks the mark; one row of its own, which no dispatch or admission touches."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def read(self) -> Waterline:
        """How far the ledger is."""
        found = await self._pool.one(Question(_SQL["watermark"], {}, Waterline))
        assert found is not None, "the migration writes the row"
        return found

    async def instant(self) -> datetime:
        """The database's clock."""
        found = await self._pool.one(Question(_SQL["instant"], {}, _Instant))
        assert found is not None, "the clock always answers"
        return found.now

    async def tick(self, counter: int) -> None:
        """Count one more pass, if the counter still is this; a lost race is no loss."""
        await self._pool.ask(Question(_SQL["tick"], {"counter": counter}, _Counted))

    async def confirm(self, mark: LedgerMark) -> None:
        """Note that Temporal keeps this mark, or a later one of its epoch."""
        keys: dict[str, JsonValue] = {"epoch": mark.epoch, "counter": mark.counter}
        await self._pool.ask(Question(_SQL["confirm_mark"], keys, _Counted))

    async def passed(self) -> None:
        """Note that a pass of the reconciler has come to its end now."""
        await self._pool.ask(Question(_SQL["passed"], {}, _Counted))
