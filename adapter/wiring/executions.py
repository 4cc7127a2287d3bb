"""The service's `Executions` over Temporal, with the ledger's word first."""

from __future__ import annotations

import structlog

from activities.errors import LedgerUnavailable
from adapter.errors import Refused, Unavailable
from adapter.ledger import Ledger
from adapter.reconcile.starts import Starter
from adapter.temporal import runs
from adapter.wiring.deployment import TemporalServer
from interpreter.contract.runs import workflow_id

_log = structlog.get_logger(__name__)


class TemporalExecutions:
    """Starts, cancels and hints executions; what the ledger has recorded outlives any outage."""

    def __init__(self, ledger: Ledger, temporal: TemporalServer, starter: Starter) -> None:
        self._ledger = ledger
        self._temporal = temporal
        self._starter = starter

    async def start(self, run_id: str) -> None:
        """Start and bind the run; Unavailable when either side does not answer."""
        try:
            await self._starter.start(run_id)
        except LedgerUnavailable as error:
            raise Unavailable(error.code, error.message, remedy=error.remedy) from error

    async def cancel(self, run_id: str, reason: str) -> None:
        """Record the cancel, then tell the execution; a run that is not started yet learns later.

        Raises Unavailable ``temporal.unavailable``: the cancel is on record all the same, so that
        nothing more is sent, and repeating it tells the execution.
        """
        await self._ledger.runs.request_cancel(run_id, reason)
        status = await self._ledger.reads.run_status(run_id, None)
        try:
            await runs.cancel(await self._temporal.client(), status.workflow_id)
        except Refused as error:
            _log.info("run.cancel-untold", run=run_id, code=error.code)

    async def hint(self, product: str, member: str, subject: str) -> int:
        """Signal every execution that waits on this subject; gives how many."""
        waits = await self._ledger.runs.open_waits({member: subject})
        if not waits:
            return 0
        client = await self._temporal.client()
        for wait in waits:
            identity = workflow_id(wait.workflow, wait.run_id, wait.execution)
            await runs.hint(client, identity)
        return len(waits)

    async def ready(self) -> bool:
        """Whether Temporal answers."""
        try:
            client = await self._temporal.client()
            return await client.service_client.check_health()
        except (Unavailable, RuntimeError):
            return False
