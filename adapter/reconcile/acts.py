"""Acts that are on record reach their execution, again and again, until they have an outcome."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Final

import structlog
from temporalio.client import Client

from activities.calls.reconcile import Reconciler
from adapter.errors import Refused
from adapter.ledger import Act, ActKind, ActState, Ledger, Wish
from adapter.reconcile.starts import Temporal
from adapter.temporal.acts import Delivery, deliver_cancel, deliver_update, standing
from interpreter.contract import names
from interpreter.contract.records import Closing, RunState, StartState
from interpreter.errors import CoordinatorError

_log = structlog.get_logger(__name__)
_LOOK_SECONDS = 0.15
_AGAIN_SECONDS = 1.0
_LATE_SECONDS = 5.0
LATE_EVERY_SECONDS = 30.0
"""How often late answers are looked for."""
_AFTER_EVERY_STEP: Final = 2**53
"""A closing written beside the workflow abandons no step: the machine's numbers are smaller."""

_UPDATES = {ActKind.RETRY_SAME: names.RETRY_SAME, ActKind.RECONCILE: names.RECONCILE}


@dataclass(frozen=True, slots=True)
class Courier:
    """Delivers acts; every delivery may be repeated, by any process, at any time.

    Where the execution has ended, what an act asks for is done in the ledger alone (protocol rule
    7). ``reconciler`` reads receipts in that case; a process without products has none, and leaves
    such an act to one that does.
    """

    ledger: Ledger
    temporal: Temporal
    reconciler: Reconciler | None = None

    async def deliver(self, act: Act) -> Act:
        """Deliver an act once, and look at its outcome.

        Raises Unavailable or LedgerUnavailable: the act stays on record and is due again.
        """
        acts = self.ledger.acts
        client = await self.temporal.client()
        found = Delivery.TAKEN
        if act.state == ActState.DELIVERED:
            found = await standing(client, act.workflow_id)
        if found is Delivery.TAKEN:
            # What was taken before is dropped by its id or its generation; but a reset, or a
            # Temporal that was restored, may have lost it.
            found = await deliver_act(client, act)
            if found is Delivery.TAKEN:
                await acts.delivered(act.id)
        if found is Delivery.CLOSED or await self._never_comes(act, found):
            await self._beside(act)
        return await acts.progress(act.id)

    async def _never_comes(self, act: Act, found: Delivery) -> bool:
        """True when no execution will come: Temporal refused the start, or has lost it since."""
        if found is not Delivery.ABSENT:
            return False
        status = await self.ledger.reads.run_status(act.run_id, None)
        lost = status.state is RunState.RECOVERY_REQUIRED
        return lost or status.start_state is StartState.FAILED

    async def _beside(self, act: Act) -> None:
        """Do what an act asks for without the execution, which has ended."""
        match act.kind:
            case ActKind.RETRY_SAME:
                await self.ledger.acts.take_back(act.id)
            case ActKind.RECONCILE if self.reconciler is not None:
                await self.reconciler.reconcile(act.id)
            case ActKind.CANCEL:
                closing = Closing(RunState.CANCELLED, _AFTER_EVERY_STEP)
                await self.ledger.runs.close(act.run_id, act.execution, closing)

    async def carry_out(self, act: Act, seconds: float) -> Act:
        """Deliver an act and wait some seconds for its outcome; gives the act as it then stands."""
        if act.concluded_at is not None:
            return act
        until = time.monotonic() + seconds
        delivery = asyncio.create_task(self._deliver_until_taken(act))
        try:
            while True:
                found = await self.ledger.acts.progress(act.id)
                if found.concluded_at is not None or time.monotonic() >= until:
                    return found
                await asyncio.sleep(_LOOK_SECONDS)
        finally:
            delivery.cancel()
            await asyncio.gather(delivery, return_exceptions=True)

    async def deliver_pending(self) -> int:
        """Deliver what is due; gives how many acts have come to an outcome."""
        due = await self.ledger.acts.pending()
        ended = await asyncio.gather(*(self._deliver_quietly(act) for act in due))
        return sum(ended)

    async def read_receipts(self) -> int:
        """Carry out due reconcile acts without their executions; gives how many.

        Under a hold no worker may poll, and a receipt may still be read: the ledger learns from it
        at once, the execution later, by way of a late answer.
        """
        if self.reconciler is None:
            return 0
        due = [act for act in await self.ledger.acts.pending() if act.kind == ActKind.RECONCILE]
        for act in due:
            try:
                await self.reconciler.reconcile(act.id)
            except CoordinatorError as error:
                _log.warning("act.undelivered", act=act.id, run=act.run_id, code=error.code)
        return len(due)

    async def bring_late_answers(self) -> int:
        """Begin an act for every late answer that its execution has not learned; gives how many.

        An attempt that nobody waited for any more may still bring an answer; the ledger takes it
        (protocol rule 2), and the execution has to be told.
        """
        late = await self.ledger.acts.late_answers(_LATE_SECONDS)
        for answer in late:
            wish = Wish(
                ActKind.RECONCILE,
                "coordinator",
                "a late answer settled the effect",
                f"late:{answer.visit}:{answer.generation}",
                answer.visit,
            )
            try:
                await self.ledger.acts.begin(answer.run_id, wish)
            except Refused as error:
                _log.info("act.late-answer-known", run=answer.run_id, code=error.code)
        return len(late)

    async def _deliver_until_taken(self, act: Act) -> None:
        while act.state == ActState.RECORDED:
            await self._deliver_quietly(act)
            act = await self.ledger.acts.act(act.id)
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _deliver_quietly(self, act: Act) -> bool:
        try:
            return (await self.deliver(act)).concluded_at is not None
        except CoordinatorError as error:
            # It stays on record and is due again; nothing is decided by a failed delivery.
            _log.warning("act.undelivered", act=act.id, run=act.run_id, code=error.code)
            return False


async def deliver_act(client: Client, act: Act) -> Delivery:
    """Ask an execution for what an act wants, under the act's own id; may be repeated.

    Raises Unavailable when Temporal does not answer.
    """
    if act.kind == ActKind.CANCEL:
        return await deliver_cancel(client, act.workflow_id)
    payload = {"visit": act.visit, "generation": act.generation, "act": act.id}
    name = _UPDATES[ActKind(act.kind)]
    return await deliver_update(client, act.workflow_id, name, payload, act.id)
