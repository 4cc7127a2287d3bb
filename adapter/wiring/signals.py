"""The service's `SignalDesk` over the ledger and its courier: forms are checked before anything."""

from __future__ import annotations

from adapter import api
from adapter.errors import Refused
from adapter.ledger import Ledger, Signal, SignalWish
from adapter.reconcile.signals import SignalCourier
from interpreter.contract.names import RESERVED_PREFIX
from interpreter.contract.schemas import first_misfit, validator
from interpreter.contract.values import JsonValue
from interpreter.definition.document import Definition
from interpreter.machine.signals import waits_for


class LedgerSignals:
    """Begins signals in the ledger and has them delivered."""

    def __init__(self, ledger: Ledger, courier: SignalCourier) -> None:
        self._ledger = ledger
        self._courier = courier

    async def begin(self, run_id: str, wish: api.SignalWish) -> api.SignalView:
        """Write a signal down that fits some wait of the run's definition."""
        _require_fit(await self._ledger.book.definition(run_id), wish.name, wish.payload)
        asked = SignalWish(wish.name, wish.actor, wish.key, wish.payload)
        return _view(await self._ledger.signals.begin(run_id, asked))

    async def carry_out(self, signal_id: str, seconds: float) -> api.SignalView:
        """Have the signal delivered, and wait some seconds for its outcome."""
        signal = await self._ledger.signals.signal(signal_id)
        return _view(await self._courier.carry_out(signal, seconds))


def _require_fit(definition: Definition, name: str, payload: JsonValue) -> None:
    schemas = [
        node.wait.signal_schema  # type: ignore[union-attr]
        for node in definition.nodes.values()
        if waits_for(node, name)
    ]
    if not schemas or name.startswith(RESERVED_PREFIX):
        raise Refused(
            "signal.unknown",
            "the run's workflow waits for no signal of this name",
            place="path/name",
            remedy="use the name that a wait of the workflow declares",
            status=404,
        )
    misfits = [first_misfit(validator(schema), payload) for schema in schemas]
    first = misfits[0]
    if first is not None and None not in misfits:
        raise Refused(
            "signal.invalid",
            f"the payload does not fit what the wait declares: {first.rule}",
            place=first.pointer or "/",
            remedy="see the signal's schema in the workflow's project",
            status=422,
        )


def _view(signal: Signal) -> api.SignalView:
    return api.SignalView(
        id=signal.id,
        name=signal.name,
        outcome=signal.outcome,
        wait=signal.visit,
        run_closed=signal.run_closed,
        recorded_at=signal.recorded_at,
        concluded_at=signal.concluded_at,
    )
