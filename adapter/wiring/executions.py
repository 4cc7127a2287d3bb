"""The service's `Executions` over Temporal, with the ledger's word first."""

from __future__ import annotations

import asyncio

import structlog
from temporalio.service import RPCError

from activities.errors import LedgerUnavailable
from adapter import api
from adapter.errors import Unavailable
from adapter.ledger import Ledger
from adapter.ledger.hints import Message
from adapter.reconcile.signals import HintCourier
from adapter.reconcile.starts import Starter, Temporal

_log = structlog.get_logger(__name__)

_CALLER_SECONDS = 3.0
"""A caller waits no longer for Temporal; what it brought is on record, and goes on later."""
_READY_SECONDS = 0.5
"""Whoever probes the service gives up after a second as a rule."""
_CHECK_SECONDS = 5.0


class TemporalExecutions:
    """Starts and hints executions; what the ledger has recorded outlives any outage."""

    def __init__(self, ledger: Ledger, temporal: Temporal, starter: Starter) -> None:
        self._ledger = ledger
        self._temporal = temporal
        self._starter = starter
        self._hints = HintCourier(ledger, temporal)
        self._check: asyncio.Task[bool] | None = None

    async def start(self, run_id: str) -> None:
        """Start and bind the run; Unavailable when either side does not answer in time."""
        if self._ledger.recovery_only:
            # A known key finds its run, which waits for a service that starts things.
            raise Unavailable("start.recovery-only", "the service starts nothing")
        try:
            await self._starter.start(run_id, _CALLER_SECONDS)
        except LedgerUnavailable as error:
            raise Unavailable(
                error.code, error.message, place=error.place, remedy=error.remedy
            ) from error

    async def hint(self, message: api.SignedMessage, member: str, subject: str) -> bool:
        """Remember a hint and tell the executions concerned; gives whether it was known."""
        about = {member: subject}
        known = await self._ledger.hints.take(
            Message(message.source, message.id, message.signed_at, message.content, about)
        )
        if not known and not self._ledger.recovery_only:
            try:
                # Nothing is lost: the hint is on record, and a worker tells the execution.
                async with asyncio.timeout(_CALLER_SECONDS):
                    await self._hints.deliver(about)
            except (Unavailable, LedgerUnavailable) as error:
                _log.warning("hint.postponed", code=error.code)
            except TimeoutError:
                _log.warning("hint.postponed", code="temporal.unavailable")
        return known

    async def ready(self) -> bool:
        """Whether Temporal answers within half a second.

        A check that takes longer, as that of a first connection may, goes on for the next one who
        asks.
        """
        if self._check is None or self._check.done():
            self._check = asyncio.create_task(self._answers())
        check = self._check
        await asyncio.wait({check}, timeout=_READY_SECONDS)
        return check.done() and check.result()

    async def _answers(self) -> bool:
        try:
            async with asyncio.timeout(_CHECK_SECONDS):
                client = await self._temporal.client()
                return await client.service_client.check_health()
        except (Unavailable, RPCError, RuntimeError, TimeoutError):
            return False
