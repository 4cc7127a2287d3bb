"""Comparing the ledger's mark with Temporal's copy: which of the two was restored, if any."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import structlog
from temporalio.client import Client

from adapter.ledger import Ledger
from adapter.ledger.holds import HoldCode
from adapter.ledger.watermark import Waterline
from adapter.temporal.schedule import ReconcileSchedule
from interpreter.contract.records import LedgerMark

_log = structlog.get_logger(__name__)
_LOOKS: Final = 3
_BETWEEN_LOOKS: Final = 0.5


class Verdict(StrEnum):
    """What two marks say of each other.

    ``adopt``: Temporal has none of this epoch yet and is to be given one.
    """

    AGREE = "agree"
    ADOPT = "adopt"
    LEDGER_BEHIND = "ledger-behind"
    TEMPORAL_BEHIND = "temporal-behind"


_CODES = {
    Verdict.LEDGER_BEHIND: HoldCode.LEDGER_BEHIND,
    Verdict.TEMPORAL_BEHIND: HoldCode.TEMPORAL_BEHIND,
}
_MESSAGES = {
    Verdict.LEDGER_BEHIND: "restore.ledger-behind",
    Verdict.TEMPORAL_BEHIND: "restore.temporal-behind",
}


def judge(ledger: Waterline, found: LedgerMark | None) -> Verdict:
    """Compare the marks (protocol rule 9).

    A pass first ticks the ledger, then writes the copy and then notes that Temporal has confirmed
    it, and it ticks only when the two are equal. So a copy is never ahead, and never behind what
    was confirmed; before anything was, it is behind by one at the most.
    """
    if found is None or (found.epoch != ledger.epoch and found.epoch in ledger.known):
        lost = ledger.marked_epoch == ledger.epoch
        return Verdict.TEMPORAL_BEHIND if lost else Verdict.ADOPT
    if found.epoch != ledger.epoch or found.counter > ledger.counter:
        return Verdict.LEDGER_BEHIND
    marked = ledger.marked_counter if ledger.marked_epoch == ledger.epoch else None
    least = ledger.counter - 1 if marked is None else marked
    return Verdict.AGREE if found.counter >= least else Verdict.TEMPORAL_BEHIND


@dataclass(frozen=True, slots=True)
class Marks:
    """Keeps ledger and Temporal in step, and holds the deployment when they are not."""

    ledger: Ledger
    schedule: ReconcileSchedule

    async def compare(self, client: Client) -> Verdict:
        """Compare, and place the hold if one of the two is behind.

        Raises Unavailable or LedgerUnavailable when either does not answer.
        """
        for _ in range(_LOOKS):
            line, found = await self._both(client)
            verdict = judge(line, found)
            if verdict is not Verdict.TEMPORAL_BEHIND:
                break
            # A cluster may show for a moment what was there before: nobody is held for that.
            await asyncio.sleep(_BETWEEN_LOOKS)
        await self._remember_erased(line, found)
        code = _CODES.get(verdict)
        if code is not None:
            foreign = found.epoch if found and verdict is Verdict.LEDGER_BEHIND else None
            if await self.ledger.holds.place(code, foreign):
                _log.error(_MESSAGES[verdict], remedy="see docs/restore.md")
        return verdict

    async def _both(self, client: Client) -> tuple[Waterline, LedgerMark | None]:
        """How far the ledger is, and Temporal's copy.

        The copy is read between the two halves of the line: what was confirmed before is there, and
        a ledger that has not ticked so far by the end is older.
        """
        before = await self.ledger.watermark.read()
        found = await self.schedule.read(client)
        line = await self.ledger.watermark.read()
        epoch, counter = before.marked_epoch, before.marked_counter
        return replace(line, marked_epoch=epoch, marked_counter=counter), found

    async def remember_erased(self, client: Client) -> None:
        """Tell the ledger up to which instant runs had been erased before a restore.

        Raises as ``compare`` does.
        """
        found = await self.schedule.read(client)
        await self._remember_erased(await self.ledger.watermark.read(), found)

    async def _remember_erased(self, line: Waterline, found: LedgerMark | None) -> None:
        before = None if found is None else found.erased_before
        known = line.erased_before
        if before is not None and (known is None or known < before):
            await self.ledger.retention.note_erased(before)

    async def ensure(self, client: Client) -> Verdict:
        """Compare, and if all is well have the schedule be as this deployment wants it.

        No pass would put right what keeps every pass from being made, as another task queue does.
        One that stands is left to passes: of two who write at once the slower one may put an older
        mark back.
        """
        verdict = await self.compare(client)
        moved = verdict is Verdict.AGREE and not await self.schedule.stands(client)
        if verdict is Verdict.ADOPT or moved:
            await self._give(client, await self.ledger.watermark.read())
        return verdict

    async def advance(self, client: Client) -> Verdict:
        """Compare, and if all is well tick the ledger and give Temporal the new mark."""
        verdict = await self.compare(client)
        if verdict in _CODES:
            return verdict
        watermark = self.ledger.watermark
        line = await watermark.read()
        found = await self.schedule.read(client)
        if found is not None and (found.epoch, found.counter) == (line.epoch, line.counter):
            await watermark.tick(line.counter)
            line = await watermark.read()
        await self._give(client, line)
        return verdict

    async def _give(self, client: Client, line: Waterline) -> None:
        await self.schedule.write(client, line.mark)
        await self.ledger.watermark.confirm(line.mark)
