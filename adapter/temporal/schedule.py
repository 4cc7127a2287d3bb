"""The schedule of the reconciler's passes; it also keeps Temporal's copy of the ledger's mark."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from temporalio.api.common.v1 import Payload
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
)
from temporalio.converter import WorkflowSerializationContext
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from adapter.temporal.client import unanswered
from interpreter.contract import names
from interpreter.contract.records import LedgerMark

_RPC_TIMEOUT = timedelta(seconds=10)
_REMEDY = "nothing is lost: the next pass of the reconciler tries again"
_CATCHUP = timedelta(minutes=10)
_Updater = Callable[[ScheduleUpdateInput], Awaitable[ScheduleUpdate]]


@dataclass(frozen=True, slots=True)
class ReconcileSchedule:
    """One deployment's schedule; its passes never overlap, whichever worker makes them.

    The mark is the input of the workflow that the schedule starts. A schedule outlives the
    retention of every execution, and no pause or note touches its action.
    """

    deployment: str
    task_queue: str
    every: timedelta

    @property
    def id(self) -> str:
        """The schedule's id."""
        return f"coordinator-reconcile.{self.deployment}"

    async def read(self, client: Client) -> LedgerMark | None:
        """Temporal's copy of the mark, or None when it has no such schedule.

        Raises Unavailable ``temporal.unavailable``, and SealError ``seal.key-missing`` for a copy
        that an unknown key has sealed. A copy that somebody has spoiled is none.
        """
        found = await self._found(client)
        return None if found is None else await self._mark_of(client, found)

    async def stands(self, client: Client) -> bool:
        """Whether its passes are started as this deployment wants it; Unavailable as ``read``."""
        found = await self._found(client)
        action = None if found is None else found.action
        if found is None or not isinstance(action, ScheduleActionStartWorkflow):
            return False
        return (
            action.task_queue == self.task_queue and found.spec.intervals == self._spec().intervals
        )

    async def _found(self, client: Client) -> Schedule | None:
        try:
            found = await client.get_schedule_handle(self.id).describe(rpc_timeout=_RPC_TIMEOUT)
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return None
            raise unanswered(error, _REMEDY) from error
        return found.schedule

    async def write(self, client: Client, mark: LedgerMark) -> None:
        """Have Temporal keep a mark, and the schedule be as this deployment wants it.

        Within an epoch a lower counter never replaces a higher one. Raises Unavailable
        ``temporal.unavailable``.
        """

        async def updated(found: ScheduleUpdateInput) -> ScheduleUpdate:
            schedule = found.description.schedule
            kept = await self._mark_of(client, schedule)
            late = kept is not None and kept.epoch == mark.epoch and kept.counter > mark.counter
            schedule.action = self._action(kept if late and kept else mark)
            schedule.spec = self._spec()
            return ScheduleUpdate(schedule)

        try:
            await self._create_or_update(client, mark, updated)
        except RPCError as error:
            raise unanswered(error, _REMEDY) from error

    async def _create_or_update(self, client: Client, mark: LedgerMark, updated: _Updater) -> None:
        handle = client.get_schedule_handle(self.id)
        try:
            await handle.update(updated, rpc_timeout=_RPC_TIMEOUT)
            return
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
        policy = SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=_CATCHUP)
        made = Schedule(action=self._action(mark), spec=self._spec(), policy=policy)
        try:
            await client.create_schedule(
                self.id, made, trigger_immediately=True, rpc_timeout=_RPC_TIMEOUT
            )
        except ScheduleAlreadyRunningError:
            # Another worker was faster.
            await handle.update(updated, rpc_timeout=_RPC_TIMEOUT)

    def _action(self, mark: LedgerMark) -> ScheduleActionStartWorkflow:
        return ScheduleActionStartWorkflow(
            names.RECONCILE_WORKFLOW, mark.to_json(), id=self.id, task_queue=self.task_queue
        )

    def _spec(self) -> ScheduleSpec:
        return ScheduleSpec(intervals=[ScheduleIntervalSpec(every=self.every)])

    async def _mark_of(self, client: Client, schedule: Schedule) -> LedgerMark | None:
        action = schedule.action
        if not isinstance(action, ScheduleActionStartWorkflow) or len(action.args) != 1:
            return None
        [value] = action.args
        context = WorkflowSerializationContext(client.namespace, self.id)
        try:
            if isinstance(value, Payload):
                # A description's arguments are as the server keeps them.
                [value] = await client.data_converter.with_context(context).decode([value])
            return LedgerMark.from_json(value)
        except (KeyError, TypeError, ValueError, ApplicationError):
            return None
