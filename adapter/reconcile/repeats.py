"""After a restore: what an older Temporal may have lost is delivered again, from the ledger."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass

import structlog
from temporalio.client import Client

from adapter.ledger import Ledger
from adapter.reconcile.acts import deliver_act
from adapter.reconcile.signals import tell_signal
from adapter.temporal.acts import Delivery
from interpreter.errors import CoordinatorError

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Repeater:
    """Tells executions again what they were told before a restore (protocol rule 9).

    An execution that has not lost it drops it by its id. One that went back to an earlier point
    takes it at once, instead of learning of it at the end of its wait, or never.
    """

    ledger: Ledger

    async def repeat(self, client: Client) -> int:
        """Deliver what is marked since the last review; gives how much of it is done with.

        Raises LedgerUnavailable; what could not be delivered stays marked.
        """
        by_run: defaultdict[str, list[str]] = defaultdict(list)
        for told in await self.ledger.repeats.signals():
            by_run[told.run_id].append(told.id)
        acts = await self.ledger.repeats.acts()
        done = await asyncio.gather(
            *(self._signals(client, signals) for signals in by_run.values()),
            *(self._act(client, act.id) for act in acts),
        )
        return sum(done)

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
