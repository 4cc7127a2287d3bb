"""Ledger writes that belong to no effect: an opened wait, a cancel, the closing of an execution."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from temporalio import activity

from activities import ports
from activities.faults import at
from interpreter.contract import names
from interpreter.contract.calls import (
    OpenWaitRequest,
    cancel_result,
    closed_to_json,
    closing_from_json,
    ended_wait_result,
)
from interpreter.contract.effects import visit_ref
from interpreter.contract.records import RunState
from interpreter.contract.runs import execution_of, run_id_of
from interpreter.contract.values import JsonValue


@dataclass(frozen=True, slots=True)
class RunRecords:
    """The activities that only write rows of the run."""

    runs: ports.RunLedger

    @activity.defn(name=names.OPEN_WAIT)
    async def open_wait(self, value: JsonValue) -> JsonValue:
        """Write that a wait opened, with the state that a status shows meanwhile."""
        request = OpenWaitRequest.from_json(value)
        info = activity.info()
        identity = info.activity_id.removesuffix("/open")
        visit, _ = visit_ref(run_id_of(info.workflow_id or ""), identity)
        due = request.until_ms
        opened = ports.OpenedWait(
            visit,
            request.kind,
            request.sequence,
            None if due is None else datetime.fromtimestamp(due / 1000, UTC),
            RunState.PAUSED if request.kind == "approval" else RunState.WAITING,
            request.steps,
        )
        await self.runs.open_wait(opened)
        at("after-wait-opened")
        return {}

    @activity.defn(name=names.END_WAIT)
    async def end_wait(self, value: JsonValue) -> JsonValue:
        """End a signal wait whose time is over; gives the signal that came first, if one did."""
        info = activity.info()
        identity = info.activity_id.removesuffix("/end")
        visit, _ = visit_ref(run_id_of(info.workflow_id or ""), identity)
        after_cancel = value is not None and value.get("afterCancel", False) is True
        ended = await self.runs.end_wait(visit, after_cancel=after_cancel)
        return ended_wait_result(info.activity_id, ended)

    @activity.defn(name=names.NOTE_SIGNAL)
    async def note_signal(self, value: JsonValue) -> JsonValue:
        """Journal that the signal of ``{name, verdict}`` was of no use."""
        run_id = run_id_of(activity.info().workflow_id or "")
        await self.runs.note_signal(run_id, value["name"], value["verdict"])
        return {}

    @activity.defn(name=names.REQUEST_CANCEL)
    async def request_cancel(self, value: JsonValue) -> JsonValue:
        """Write down a cancel that Temporal delivered; says what is on record ``{after}``."""
        info = activity.info()
        run_id = run_id_of(info.workflow_id or "")
        await self.runs.request_cancel(run_id, "requested in Temporal")
        ahead = {} if value is None else await self.runs.ahead(run_id, value["after"])
        return cancel_result(info.activity_id, ahead)

    @activity.defn(name=names.CLOSE_RUN)
    async def close(self, value: JsonValue) -> JsonValue:
        """End this execution, insert-once; answers with the outcome on record."""
        closing = closing_from_json(value)
        workflow_id = activity.info().workflow_id or ""
        at("before-close")
        closed = await self.runs.close(run_id_of(workflow_id), execution_of(workflow_id), closing)
        at("after-close")
        return closed_to_json(closed, closing)
