"""Settling an unknown effect by the product's receipt: it is read, the command is never sent."""

from __future__ import annotations

from dataclasses import dataclass

from activities import ports
from activities.products import Products
from interpreter.contract.effects import Reply, ReplyKind

CONFIRMED = "confirmed"
NOT_CONFIRMED = "not-confirmed"


@dataclass(frozen=True, slots=True)
class Reconciler:
    """Carries out reconcile acts, from an activity or beside Temporal; repeating one is harmless.

    It asks nobody's permission: a receipt may be read after the deadline, after a cancel and under
    a hold, since nothing can change by it.
    """

    effects: ports.EffectLedger
    acts: ports.ActLedger
    book: ports.CallBook
    products: Products

    async def reconcile(self, act_id: str) -> tuple[str, Reply | None]:
        """The activity id that the act is about, and the reply now on record or None.

        None means that nothing changed: no receipt was found, which never proves that there was
        no effect. ActivityError ``act.unknown`` for an act that is not on record.
        """
        act = await self.acts.under_way(act_id)
        identity = act.effect.activity_id(act.generation)
        facts = await self.book.call(act.effect.run_id, act.effect.node)
        standing = await self.effects.resolve(act.effect, facts.contract)
        if isinstance(standing, Reply) and not _in_doubt(standing):
            # An answer came late, or another act found the receipt: this is the news.
            await self.acts.conclude(act_id, CONFIRMED, standing.kind.value)
            return identity, standing
        if act.concluded:
            return identity, None
        if not isinstance(standing, Reply):
            await self.acts.conclude(act_id, NOT_CONFIRMED, "retry-under-way")
            return identity, None
        return identity, await self._by_receipt(act_id, act, facts)

    async def _by_receipt(
        self, act_id: str, act: ports.ActUnderWay, facts: ports.CallFacts
    ) -> Reply | None:
        saved = await self.effects.saved(act.effect)
        if saved is None:
            await self.acts.conclude(act_id, NOT_CONFIRMED, "never-sent")
            return None
        found = await self.products.read_receipt(
            saved.command, facts.contract, saved.idempotency_key
        )
        if found.kind is not ReplyKind.ACCEPTED:
            await self.acts.conclude(act_id, NOT_CONFIRMED, found.code)
            return None
        settlement = ports.Settlement(
            act.effect,
            act.generation,
            saved.token,
            facts.contract,
            facts.limits,
            found,
            act.sequence,
            receipt=found.output,
        )
        settled = await self.effects.settle(settlement)
        if not isinstance(settled, Reply):
            raise AssertionError("an accepted reply settles its effect")
        await self.acts.conclude(act_id, CONFIRMED, settled.kind.value)
        return settled


def _in_doubt(reply: Reply) -> bool:
    return reply.kind in (ReplyKind.UNKNOWN, ReplyKind.RECEIPT_EXPIRED)
