"""Starting an admitted run's execution, and finishing the starts that nobody confirmed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog
from temporalio.client import Client

from activities.errors import LedgerUnavailable
from adapter.errors import Unavailable
from adapter.temporal.runs import start_run
from interpreter.contract.runs import StartRun
from interpreter.errors import CoordinatorError

_log = structlog.get_logger(__name__)
PENDING_EVERY_SECONDS = 2.0
"""How often what is pending is looked at."""
_OLDER_THAN_SECONDS = 2.0
_AT_A_TIME = 20


class Waiting(Protocol):
    """A run whose start was not confirmed."""

    @property
    def run_id(self) -> str:
        """The run."""
        ...

    @property
    def execution(self) -> int:
        """Which execution of the run."""
        ...


class Starts(Protocol):
    """The ledger's side of a start."""

    async def start_request(self, run_id: str) -> StartRun:
        """What Temporal is given."""
        ...

    async def bind_started(self, run_id: str, execution: int, temporal_run_id: str) -> None:
        """Record that Temporal runs the execution; idempotent."""
        ...

    async def start_failed(self, run_id: str, execution: int, code: str) -> None:
        """Record that the execution can not be started."""
        ...

    async def pending_starts(self, older_than: float, limit: int = 100) -> Sequence[Waiting]:
        """Starts not confirmed for some seconds, oldest first."""
        ...


class Temporal(Protocol):
    """A way to the Temporal server that may be away for a while."""

    async def client(self) -> Client:
        """A connected client; Unavailable when nothing answers."""
        ...


@dataclass(frozen=True, slots=True)
class Starter:
    """Starts runs on a task queue and binds them; everything may be repeated."""

    ledger: Starts
    temporal: Temporal
    task_queue: str

    async def start(self, run_id: str, patience: float | None = None) -> None:
        """Start a run's execution, or find the one that is there, and bind it.

        Raises Unavailable, after ``patience`` seconds without an answer of Temporal at the latest,
        or LedgerUnavailable: the run then stays pending and is tried again.
        """
        request = await self.ledger.start_request(run_id)
        try:
            # What is given up may have been done: the next attempt finds the execution by its id.
            async with asyncio.timeout(patience):
                client = await self.temporal.client()
                temporal_run_id = await start_run(client, request, self.task_queue)
        except TimeoutError as error:
            raise Unavailable(
                "temporal.unavailable",
                "Temporal did not answer in time",
                place="temporal.address",
                remedy="nothing is lost: the run is on record, and is started later",
            ) from error
        await self.ledger.bind_started(run_id, request.execution, temporal_run_id)

    async def finish_pending(self) -> int:
        """Start what is pending; gives how many runs were started.

        Raises Unavailable or LedgerUnavailable when either side does not answer.
        """
        started = 0
        for waiting in await self.ledger.pending_starts(_OLDER_THAN_SECONDS, _AT_A_TIME):
            try:
                await self.start(waiting.run_id)
            except (Unavailable, LedgerUnavailable):
                raise
            except CoordinatorError as error:
                # Temporal answered and will not have it: a person has to look.
                _log.error("run.start-failed", run=waiting.run_id, code=error.code)
                await self.ledger.start_failed(waiting.run_id, waiting.execution, error.code)
            else:
                started += 1
                _log.info("run.start-finished", run=waiting.run_id)
        return started
