"""What Temporal may lose with a restore that nobody notices is delivered again, from the ledger."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog
from temporalio.client import Client

from adapter.ledger import Ledger
from adapter.ledger.repeats import Open
from adapter.reconcile.acts import deliver_act
from adapter.reconcile.signals import tell_signal
from adapter.temporal.acts import Delivery, deliver_cancel
from adapter.temporal.versions import nudge
from interpreter.errors import CoordinatorError

_log = structlog.get_logger(__name__)
_MOST_ROUNDS: Final = 20
"""Of a hundred signals and a hundred acts each; what is left is for the next pass."""


@dataclass(frozen=True, slots=True)
class Repeater:
    """Tells executions again what they were told (protocol rule 9).

    It is told again after Temporal was given a later mark than there was when it was told. So a
    Temporal that loses it either loses the mark too, and is held, or is told after its loss. An
    execution that has not lost it drops it by its id. One that went back to an earlier point takes
    it at once, instead of learning of it at the end of its wait, or never.
    """

    ledger: Ledger

    async def repeat(self, client: Client, before: datetime) -> int:
        """Deliver what was told before an instant; gives how much of it is done with.

        ``before`` is older than the mark that Temporal has now. Raises LedgerUnavailable; what
        could not be delivered stays to be repeated.
        """
        await self.ledger.repeats.forget(before)
        cancels = await self.ledger.repeats.cancels(before)
        await asyncio.gather(*(self._cancel(client, found) for found in cancels))
        repeated = 0
        for _ in range(_MOST_ROUNDS):
            done = await self._some(client, before)
            repeated += done
            if not done:
                break
        return repeated

    async def nudge(self, client: Client) -> int:
        """Have executions of reviewed runs tell the ledger of their doubts; gives how many.

        They continue as new, and ask the ledger there. Raises LedgerUnavailable; who could not be
        reached is nudged by a later pass.
        """
        found = await self.ledger.repeats.unnudged()
        done = await asyncio.gather(*(self._nudge(client, one) for one in found))
        nudged = [one.run_id for one, reached in zip(found, done, strict=True) if reached]
        if nudged:
            await self.ledger.repeats.nudged(nudged)
        return len(nudged)

    async def _nudge(self, client: Client, found: Open) -> bool:
        try:
            await nudge(client, found.workflow_id)
        except CoordinatorError as error:
            _log.warning("run.unnudged", run=found.run_id, code=error.code)
            return False
        return True

    async def _some(self, client: Client, before: datetime) -> int:
        by_run: defaultdict[str, list[str]] = defaultdict(list)
        for told in await self.ledger.repeats.signals(before):
            by_run[told.run_id].append(told.id)
        acts = await self.ledger.repeats.acts(before)
        done = await asyncio.gather(
            *(self._signals(client, signals) for signals in by_run.values()),
            *(self._act(client, act.id) for act in acts),
        )
        return sum(done)

    async def _cancel(self, client: Client, found: Open) -> None:
        try:
            await deliver_cancel(client, found.workflow_id)
        except CoordinatorError as error:
            _log.warning("cancel.unrepeated", run=found.run_id, code=error.code)

    async def _signals(self, client: Client, signals: list[str]) -> int:
        """One run's signals in order: the next one is not told before this one is taken."""
        for done, identity in enumerate(signals):
            try:
                signal = await self.ledger.signals.signal(identity)
                answer = await tell_signal(client, self.ledger, signal)
                if answer.delivery in (Delivery.UNANSWERED, Delivery.NOT_READY):
                    return done
                await self.ledger.repeats.signal_repeated(identity)
            except CoordinatorError as error:
                _log.warning("signal.unrepeated", signal=identity, code=error.code)
                return done
        return len(signals)

    async def _act(self, client: Client, identity: str) -> int:
        try:
            found = await deliver_act(client, await self.ledger.acts.act(identity))
            # An execution that has no unknown effect of that name needs to be told nothing.
            if found is Delivery.UNANSWERED:
                return 0
            await self.ledger.repeats.act_repeated(identity)
        except CoordinatorError as error:
            _log.warning("act.unrepeated", act=identity, code=error.code)
            return 0
        return 1
