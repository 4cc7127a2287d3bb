"""The loop in which everything that is on record reaches its execution, through any outage."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from activities.errors import LedgerUnavailable
from adapter.errors import Unavailable

_log = structlog.get_logger(__name__)


async def keep_delivering(
    stop: asyncio.Event, *deliveries: Callable[[], Awaitable[object]], every: float = 1.0
) -> None:
    """Make every delivery each so many seconds, until ``stop``; outages are waited out."""
    while not stop.is_set():
        for deliver in deliveries:
            try:
                await deliver()
            except (Unavailable, LedgerUnavailable) as error:
                _log.warning("outbox.postponed", code=error.code)
        try:
            await asyncio.wait_for(stop.wait(), every)
        except TimeoutError:
            continue
