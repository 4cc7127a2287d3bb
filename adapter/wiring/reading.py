"""Who was shown what runs carry: one audit record for each reader and run, written before."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from adapter.ledger.audit import Audit

_REMEMBERED: Final = 10_000
_AGAIN_SECONDS: Final = 3_600.0


class ReadNotes:
    """Notes readers in the journals of runs; a reader who comes again within the hour is known.

    Each process remembers by itself, so that following a run costs no record each time.
    """

    def __init__(self, audit: Audit, clock: Callable[[], float] = time.monotonic) -> None:
        self._audit = audit
        self._clock = clock
        self._known: OrderedDict[tuple[str, str, str], float] = OrderedDict()

    async def note(self, run_id: str, actor: str, what: str) -> None:
        """Journal ``run.read`` of ``what`` unless that was within the hour.

        Raises LedgerUnavailable when it can not be written: then nothing may be shown.
        """
        reader = (run_id, actor, what)
        now = self._clock()
        if now - self._known.get(reader, -_AGAIN_SECONDS) < _AGAIN_SECONDS:
            return
        await self._audit.note("run.read", {"actor": actor}, run_id=run_id, what=what)
        self._known[reader] = now
        self._known.move_to_end(reader)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
