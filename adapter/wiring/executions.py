"""The service's `Executions` over Temporal, with the ledger's word first."""

from __future__ import annotations

from activities.errors import LedgerUnavailable
from adapter.errors import Unavailable
from adapter.ledger import Ledger
from adapter.reconcile.starts import Starter
from adapter.temporal import runs
from adapter.wiring.deployment import TemporalServer
from interpreter.contract.runs import workflow_id


class TemporalExecutions:
    """Starts and hints executions; what the ledger has recorded outlives any outage."""

    def __init__(self, ledger: Ledger, temporal: TemporalServer, starter: Starter) -> None:
        self._ledger = ledger
        self._temporal = temporal
        self._starter = starter

    async def start(self, run_id: str) -> None:
        """Start and bind the run; Unavailable when either side does not answer."""
        if self._ledger.recovery_only:
            # A known key finds its run, which waits for a service that starts things.
            raise Unavailable("start.recovery-only", "the service starts nothing")
        try:
            await self._starter.start(run_id)
        except LedgerUnavailable as error:
            raise Unavailable(error.code, error.message, remedy=error.remedy) from error

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
