"""What a worker does that must not serve runs: it looks, reads receipts, and waits for people."""

from __future__ import annotations

import asyncio
from typing import Final

import structlog

from activities.errors import LedgerUnavailable
from adapter.errors import Unavailable
from adapter.reconcile.passes import Reconciliation

_log = structlog.get_logger(__name__)
EVERY_SECONDS: Final = 5.0


async def recover(
    reconciliation: Reconciliation, stop: asyncio.Event, every: float = EVERY_SECONDS
) -> None:
    """Make passes, without polling, until runs may be served or ``stop`` is set.

    A ledger that was opened for recovery only is never served. Outages are waited out, except at
    the very beginning.
    """
    ledger = reconciliation.marks.ledger
    if not ledger.recovery_only and await reconciliation.may_poll():
        return
    standing = await ledger.holds.standing()
    _log.error("worker.recovery-only", hold=standing.hold_code, remedy="see docs/restore.md")
    while not stop.is_set():
        try:
            await reconciliation.run_pass()
            if not ledger.recovery_only and await reconciliation.may_poll():
                _log.info("worker.recovery-over")
                return
        except (Unavailable, LedgerUnavailable) as error:
            _log.warning("reconcile.postponed", code=error.code)
        try:
            await asyncio.wait_for(stop.wait(), every)
        except TimeoutError:
            continue
