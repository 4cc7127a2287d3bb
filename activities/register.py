"""The activities of a worker, given the ports: all that a worker needs to know of this room."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from temporalio import activity
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from activities import ports
from activities.calls.attempt import Attempt, present_attempt
from activities.calls.observe import Observer, WaitTimes
from activities.calls.perform import Performer, heartbeat_while
from activities.calls.reconcile import Reconciler
from activities.products import Products
from activities.records.runs import RunRecords
from interpreter.contract import names
from interpreter.contract.calls import (
    CallRequest,
    ObserveRequest,
    again_result,
    call_result,
    wait_result,
)
from interpreter.contract.effects import Reply, visit_ref
from interpreter.contract.runs import run_id_of
from interpreter.contract.values import JsonValue

_HEARTBEAT_SECONDS = 3.0


class Operations:
    """The dynamic activity that serves every operation, and those that settle effects."""

    def __init__(self, performer: Performer, observer: Observer, reconciler: Reconciler) -> None:
        self._performer = performer
        self._observer = observer
        self._reconciler = reconciler

    @activity.defn(dynamic=True)
    async def operation(self, args: Sequence[RawValue]) -> JsonValue:
        """Perform, or observe through, the operation that is this activity's type."""
        value = activity.payload_converter().from_payload(args[0].payload)
        attempt = present_attempt()
        try:
            if "observe" in value:
                return await self._observe(attempt, ObserveRequest.from_json(value))
            request = CallRequest.from_json(value)
        except (KeyError, TypeError) as error:
            raise ApplicationError(
                "the activity's input is not one that the interpreter wrote",
                type=names.NOT_ADMITTED,
                non_retryable=True,
            ) from error
        if attempt.is_local:
            reply = await self._performer.perform(attempt, request)
        else:
            work = asyncio.create_task(self._performer.perform(attempt, request))
            reply = await heartbeat_while(work, _HEARTBEAT_SECONDS, attempt.progress)
        return call_result(attempt.activity_id, reply)

    async def _observe(self, attempt: Attempt, request: ObserveRequest) -> JsonValue:
        at = activity.info().started_time
        end = await self._observer.observe(attempt, request, at)
        return wait_result(attempt.activity_id, end)

    @activity.defn(name=names.RESOLVE_EFFECT)
    async def resolve(self, identity: str) -> JsonValue:
        """What the ledger knows of an effect whose activity ended without a reply."""
        own = present_of(identity)
        reply = await self._performer.resolve(own)
        if isinstance(reply, Reply):
            return call_result(identity, reply)
        return again_result(identity, reply)

    @activity.defn(name=names.RECONCILE_EFFECT)
    async def reconcile(self, value: JsonValue) -> JsonValue:
        """Read the receipt that ``{act}`` asks for; the reply on record, or nothing."""
        identity, reply = await self._reconciler.reconcile(value["act"])
        return None if reply is None else call_result(identity, reply)


def present_of(identity: str) -> Attempt:
    """The attempt that another activity id of this run names."""
    info = activity.info()
    visit, generation = visit_ref(run_id_of(info.workflow_id or ""), identity)
    return Attempt(visit, generation, identity, info.activity_type, info.is_local)


def activities_of(
    effects: ports.EffectLedger,
    runs: ports.RunLedger,
    acts: ports.ActLedger,
    book: ports.CallBook,
    products: Products,
    times: WaitTimes,
) -> list[Callable[..., Any]]:
    """Every activity callable of this project."""
    operations = Operations(
        Performer(effects, book, products),
        Observer(runs, book, products, times),
        Reconciler(effects, acts, book, products),
    )
    records = RunRecords(runs)
    return [
        operations.operation,
        operations.resolve,
        operations.reconcile,
        records.open_wait,
        records.end_wait,
        records.note_signal,
        records.request_cancel,
        records.close,
    ]
