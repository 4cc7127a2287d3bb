"""What executions were told once: told again, though its outcome is on record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from adapter.ledger.holds import FINAL_STATES
from adapter.ledger.pool import Pool, Question
from adapter.ledger.queries import queries
from interpreter.contract.runs import workflow_id
from interpreter.contract.values import JsonValue

_SQL = queries("recovery")
_AT_A_TIME: Final = 100


@dataclass(frozen=True, slots=True)
class Told:
    """The id of a signal or an act, and the run that it is about."""

    id: str
    run_id: str


@dataclass(frozen=True, slots=True)
class Open:
    """A run that goes on, and the Temporal workflow id of its latest execution."""

    run_id: str
    workflow: str
    execution: int

    @property
    def workflow_id(self) -> str:
        """Its Temporal workflow id."""
        return workflow_id(self.workflow, self.run_id, self.execution)


@dataclass(frozen=True, slots=True)
class _Repeated:
    id: str


@dataclass(frozen=True, slots=True)
class _Forgotten:
    forgotten: int


class Repeats:
    """Signals, acts and cancels that a Temporal which was restored may have lost (protocol rule 9).

    Each signal and act is handed out once its outcome is older than ``before``, until it is said to
    be repeated; a hold for review has all of them repeated once more. Their outcomes stay as they
    are: the machine knows what it has taken. Cancels are handed out as long as their run goes on.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def signals(self, before: datetime) -> list[Told]:
        """Signals that were taken, at most 100, those of one run in the order they came."""
        return await self._pool.ask(Question(_SQL["signals_again"], _some(before), Told))

    async def acts(self, before: datetime) -> list[Told]:
        """Of each effect that acts have settled the last act, at most 100."""
        return await self._pool.ask(Question(_SQL["acts_again"], _some(before), Told))

    async def cancels(self, before: datetime) -> list[Open]:
        """Executions whose run is to be cancelled and goes on, by chance, at most 100."""
        return await self._pool.ask(Question(_SQL["cancels_again"], _some(before), Open))

    async def unnudged(self) -> list[Open]:
        """Runs that were reviewed, whose execution may stand at what the ledger lost; some."""
        keys: dict[str, JsonValue] = {"final": list(FINAL_STATES), "limit": _AT_A_TIME}
        return await self._pool.ask(Question(_SQL["unnudged"], keys, Open))

    async def nudged(self, runs: Sequence[str]) -> None:
        """Note that the executions of these runs were asked, or have ended."""
        keys = {"runs": f"{{{','.join(runs)}}}"}
        await self._pool.ask(Question(_SQL["nudged"], keys, _Repeated))

    async def forget(self, before: datetime) -> None:
        """Let go of what nobody needs to be told again: of runs that are over, and refusals."""
        await self._pool.ask(Question(_SQL["forget_told"], _some(before), _Forgotten))

    async def signal_repeated(self, signal_id: str) -> None:
        """Note that an execution knows of a signal again, or has ended."""
        await self._pool.ask(Question(_SQL["signal_repeated"], {"id": signal_id}, _Repeated))

    async def act_repeated(self, act_id: str) -> None:
        """Note that an execution knows of an act again, needs it no more, or has ended."""
        await self._pool.ask(Question(_SQL["act_repeated"], {"id": act_id}, _Repeated))


def _some(before: datetime) -> dict[str, JsonValue]:
    return {"final": list(FINAL_STATES), "limit": _AT_A_TIME, "before": before}
