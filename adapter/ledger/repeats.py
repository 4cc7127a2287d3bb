"""What executions were told before a restore: told again, though its outcome is on record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from adapter.ledger.holds import FINAL_STATES
from adapter.ledger.pool import Pool, Question
from adapter.ledger.queries import queries
from interpreter.contract.values import JsonValue

_SQL = queries("recovery")
_AT_A_TIME: Final = 100


@dataclass(frozen=True, slots=True)
class Told:
    """The id of a signal or an act, and the run that it is about."""

    id: str
    run_id: str


@dataclass(frozen=True, slots=True)
class _Repeated:
    id: str


class Repeats:
    """Signals and acts that a Temporal which was restored may have lost (protocol rule 9).

    Placing a hold for review marks those of every run that goes on; each is handed out until it is
    said to be repeated. Their outcomes stay as they are: the machine knows what it has taken.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def signals(self) -> list[Told]:
        """Signals that were taken, at most 100, in the order in which they came."""
        return await self._pool.ask(Question(_SQL["signals_again"], _some(), Told))

    async def acts(self) -> list[Told]:
        """Of each effect that acts have settled the last act, at most 100."""
        return await self._pool.ask(Question(_SQL["acts_again"], _some(), Told))

    async def signal_repeated(self, signal_id: str) -> None:
        """Note that an execution knows of a signal again, or has ended."""
        await self._pool.ask(Question(_SQL["signal_repeated"], {"id": signal_id}, _Repeated))

    async def act_repeated(self, act_id: str) -> None:
        """Note that an execution knows of an act again, needs it no more, or has ended."""
        await self._pool.ask(Question(_SQL["act_repeated"], {"id": act_id}, _Repeated))


def _some() -> dict[str, JsonValue]:
    return {"final": list(FINAL_STATES), "limit": _AT_A_TIME}
