"""The service's `ActDesk` over the ledger and the courier."""

from __future__ import annotations

from activities.errors import ActivityError
from adapter import api
from adapter.ledger import Act, ActKind, Ledger, Wish
from adapter.reconcile.acts import Courier


class LedgerDesk:
    """Begins acts in the ledger and has them carried out."""

    def __init__(self, ledger: Ledger, courier: Courier) -> None:
        self._ledger = ledger
        self._courier = courier

    async def begin(self, run_id: str, wish: api.ActWish) -> api.ActView:
        """Write an act down, or give the one that the same key began."""
        kind = ActKind(wish.kind)
        asked = Wish(kind, wish.actor, wish.reason, wish.key, wish.effect)
        return act_view(self._ledger, await self._ledger.acts.begin(run_id, asked))

    async def carry_out(self, act_id: str, seconds: float) -> api.ActView:
        """Have the act carried out, and wait some seconds for its outcome."""
        act = await self._ledger.acts.act(act_id)
        return act_view(self._ledger, await self._courier.carry_out(act, seconds))

    async def find(self, run_id: str, act_id: str) -> api.ActView | None:
        """An act of this run as it stands now, or None."""
        try:
            act = await self._ledger.acts.progress(act_id)
        except ActivityError as error:
            if error.code == "act.unknown":
                return None
            raise
        return act_view(self._ledger, act) if act.run_id == run_id else None


def act_view(ledger: Ledger, act: Act) -> api.ActView:
    """An act as the service shows it, with its reason opened."""
    return api.ActView(
        id=act.id,
        kind=act.kind,
        effect=act.visit,
        actor=act.actor,
        reason=ledger.acts.reason(act),
        state=act.state,
        outcome=act.outcome,
        code=act.code,
        recorded_at=act.recorded_at,
        concluded_at=act.concluded_at,
    )
