"""One pass of the reconciler over the whole deployment, as Temporal's schedule asks for it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import structlog
from temporalio import activity

from adapter.reconcile.acts import Courier
from adapter.reconcile.marks import Marks, Verdict
from adapter.reconcile.observe import observe
from adapter.reconcile.plan import plan
from adapter.reconcile.repair import repair
from adapter.reconcile.repeats import Repeater
from adapter.reconcile.starts import Starter
from interpreter.contract import names
from interpreter.contract.values import JsonValue
from interpreter.errors import CoordinatorError

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """Everything that brings ledger and Temporal together again, in one order.

    Under a hold starts are left alone: nothing new may begin. Repeating a pass is harmless, and so
    are two at once.
    """

    marks: Marks
    starter: Starter
    courier: Courier

    @activity.defn(name=names.RECONCILE_PASS)
    async def run_pass(self) -> JsonValue:
        """Make one pass; gives counts by name, and how the marks compare.

        Raises Unavailable or LedgerUnavailable when either side does not answer.
        """
        ledger, client = self.marks.ledger, await self.starter.temporal.client()
        before = await ledger.watermark.instant()
        verdict = await self.marks.advance(client)
        counts: Counter[str] = Counter()
        held = (await ledger.holds.standing()).restore_hold or ledger.recovery_only
        if not held:
            counts["started"] = await self.starter.finish_pending()
        for seen in await observe(ledger, client):
            counts["looked"] += 1
            try:
                done = await repair(ledger, seen.unfinished, plan(seen))
            except CoordinatorError as error:
                _log.warning("run.unrepaired", run=seen.unfinished.run_id, code=error.code)
                done = "unrepaired"
            if done:
                counts[done] += 1
        if held:
            counts["reconciled"] = await self.courier.read_receipts()
        else:
            counts["concluded"] = await self.courier.deliver_pending()
            counts["late"] = await self.courier.bring_late_answers()
            repeater = Repeater(ledger)
            counts["repeated"] = await repeater.repeat(client, before)
            counts["nudged"] = await repeater.nudge(client)
        await ledger.watermark.passed()
        return {"marks": verdict.value, "held": held, **counts}

    async def may_poll(self) -> bool:
        """True when this process may serve runs: the marks agree, and no hold stands.

        It has the schedule made where there is none yet. Raises Unavailable or LedgerUnavailable
        when either side does not answer.
        """
        client = await self.starter.temporal.client()
        verdict = await self.marks.ensure(client)
        standing = await self.marks.ledger.holds.standing()
        return verdict in (Verdict.AGREE, Verdict.ADOPT) and not standing.restore_hold
