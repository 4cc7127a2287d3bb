"""Having foreign payloads written down, without ever keeping a task waiting for long."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import structlog
from temporalio.api.common.v1 import Payload

from activities.errors import LedgerUnavailable
from adapter.temporal.refusals import Reason
from adapter.temporal.seals import Vault
from interpreter.errors import CoordinatorError

MOST_OF_A_RUN: Final = 20
"""Different payloads of one run that a process has written down; a run may be sent thousands."""

_MOST_RUNS = 4_096
_NOTING_SECONDS = 2.0
_PAUSE_SECONDS = 10.0
_log = structlog.get_logger(__name__)


class Notes:
    """What this process has had written down lately, by run and keyed digest.

    A note that can not be written is left to the next replay, and for ten seconds nothing more is
    tried: a task with many foreign payloads must not wait for an outage with each of them.
    """

    def __init__(self, vault: Vault, clock: Callable[[], float] = time.monotonic) -> None:
        self._vault = vault
        self._clock = clock
        self._written: OrderedDict[str, set[str]] = OrderedDict()
        self._paused_until = 0.0

    async def note(self, run_id: str, payload: Payload, reason: Reason) -> None:
        """Have one written down, unless it was or enough were; never raises for the ledger."""
        written = self._written.get(run_id, set())
        if len(written) >= MOST_OF_A_RUN or self._clock() < self._paused_until:
            return
        try:
            async with asyncio.timeout(_NOTING_SECONDS):
                await self._note(run_id, payload, reason)
        except (TimeoutError, LedgerUnavailable):
            self._paused_until = self._clock() + _PAUSE_SECONDS
            _log.warning("payload.not-noted", run=run_id, code=reason.value)
        except CoordinatorError as error:
            # A stranger's execution has no journal, and must not keep others out of theirs.
            _log.warning("payload.not-noted", run=run_id, code=error.code)

    async def _note(self, run_id: str, payload: Payload, reason: Reason) -> None:
        run = await self._vault.runs.of(run_id)
        digest = run.digest("foreign", payload.SerializeToString(deterministic=True))
        written = self._written.setdefault(run_id, set())
        self._written.move_to_end(run_id)
        if len(self._written) > _MOST_RUNS:
            self._written.popitem(last=False)
        if digest in written:
            return
        await self._vault.foreign.note(run_id, reason.value, digest)
        written.add(digest)
        _log.warning("payload.foreign", run=run_id, code=reason.value)
