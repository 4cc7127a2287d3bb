"""Signals and hints that are on record reach their execution, again and again until they have."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import structlog
from temporalio.client import Client

from adapter.ledger import Ledger, Signal
from adapter.reconcile.starts import Temporal
from adapter.temporal.acts import Answered, Delivery, ask_update
from adapter.temporal.runs import hint
from interpreter.contract import names
from interpreter.contract.values import JsonValue
from interpreter.errors import CoordinatorError
from interpreter.machine import SignalVerdict

_log = structlog.get_logger(__name__)
_LOOK_SECONDS = 0.1
_AGAIN_SECONDS = 1.0
_OUTCOMES = frozenset(verdict.value for verdict in SignalVerdict)


@dataclass(frozen=True, slots=True)
class SignalCourier:
    """Delivers signals as updates under their own ids; every delivery may be repeated by anybody.

    The machine knows the ids that it has taken, so a signal that is delivered again after
    continue-as-new, when Temporal has forgotten the update, is taken once.
    """

    ledger: Ledger
    temporal: Temporal

    async def deliver(self, signal: Signal) -> Signal:
        """Deliver a signal once, and write down what the execution says of it.

        Raises Unavailable or LedgerUnavailable: the signal stays on record and is due again.
        """
        if signal.run_closed:
            # A wait that has taken it was written with the end of the run at the latest.
            await self.ledger.signals.conclude(signal.id, SignalVerdict.LATE.value)
            return await self.ledger.signals.signal(signal.id)
        answer = await tell_signal(await self.temporal.client(), self.ledger, signal)
        if answer.delivery is Delivery.TAKEN:
            verdict = answer.value.get("verdict") if isinstance(answer.value, dict) else None
            if verdict in _OUTCOMES:
                await self.ledger.signals.conclude(signal.id, verdict)
        found = await self.ledger.signals.signal(signal.id)
        if answer.delivery is Delivery.CLOSED and found.run_closed and not found.outcome:
            return await self.deliver(found)
        # Where Temporal has closed an execution that the ledger has not, nobody can tell yet.
        return found

    async def carry_out(self, signal: Signal, seconds: float) -> Signal:
        """Deliver a signal and wait some seconds for its outcome; gives it as it then stands."""
        until = time.monotonic() + seconds
        delivery = asyncio.create_task(self._deliver_until_known(signal))
        try:
            while signal.concluded_at is None and time.monotonic() < until:
                await asyncio.wait({delivery}, timeout=_LOOK_SECONDS)
                signal = await self.ledger.signals.signal(signal.id)
            return signal
        finally:
            delivery.cancel()
            await asyncio.gather(delivery, return_exceptions=True)

    async def deliver_pending(self) -> int:
        """Deliver what is due; gives how many signals have come to an outcome."""
        due = await self.ledger.signals.pending()
        return sum(await asyncio.gather(*(self._deliver_quietly(signal) for signal in due)))

    async def _deliver_until_known(self, signal: Signal) -> None:
        known = await self._deliver_quietly(signal)
        while not known:
            await asyncio.sleep(_AGAIN_SECONDS)
            known = await self._deliver_quietly(await self.ledger.signals.signal(signal.id))

    async def _deliver_quietly(self, signal: Signal) -> bool:
        if signal.concluded_at is not None:
            return True
        try:
            return (await self.deliver(signal)).concluded_at is not None
        except CoordinatorError as error:
            # It stays on record and is due again; nothing is decided by a failed delivery.
            _log.warning("signal.undelivered", signal=signal.id, code=error.code)
            return False


async def tell_signal(client: Client, ledger: Ledger, signal: Signal) -> Answered:
    """Ask an execution to take a signal, under the signal's own id; may be repeated.

    Raises Unavailable when Temporal does not answer.
    """
    payload = ledger.signals.payload(signal)
    given = {"name": signal.name, "id": signal.id, "payload": payload}
    if signal.visit:
        given["visit"] = signal.visit
    return await ask_update(client, signal.workflow_id, names.SIGNAL, given, signal.id)


@dataclass(frozen=True, slots=True)
class HintCourier:
    """Tells executions of hints, once between two readings of their source."""

    ledger: Ledger
    temporal: Temporal

    async def deliver(self, about: JsonValue = None) -> int:
        """Tell every execution that was not told yet, of one source or of all; gives how many.

        Raises Unavailable or LedgerUnavailable: the hints stay on record.
        """
        waits = await self.ledger.hints.untold(about)
        if waits:
            client = await self.temporal.client()
            for wait in waits:
                await hint(client, wait.workflow_id)
                await self.ledger.hints.told(wait)
        return len(waits)
