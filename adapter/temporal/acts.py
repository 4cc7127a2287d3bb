"""Delivering an operator's act to an execution, and saying how that went."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.service import RPCError, RPCStatusCode

from adapter.temporal.client import unanswered
from interpreter.contract.values import JsonValue

_RPC_TIMEOUT = timedelta(seconds=10)
_REMEDY = "nothing is lost: the act is on record and is delivered again"
_PATIENCE_SECONDS = 12.0


class Delivery(StrEnum):
    """How a delivery went.

    ``taken``: the execution has it. ``not-ready``: it will not have it as it stands now.
    ``unanswered``: nobody can say, so it is delivered again under the same id. ``closed``: the
    execution has ended. ``absent``: Temporal has none, as before its start.
    """

    TAKEN = "taken"
    NOT_READY = "not-ready"
    UNANSWERED = "unanswered"
    CLOSED = "closed"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Answered:
    """How a delivery went, and what the execution said where it has taken it."""

    delivery: Delivery
    value: JsonValue = None


async def deliver_update(
    client: Client, workflow_id: str, name: str, payload: JsonValue, act_id: str
) -> Delivery:
    """Deliver an act as an update whose id is the act's; repeating it is harmless.

    An update that no worker takes in time may be lost (techniques 7), so the caller repeats it.
    Raises Unavailable ``temporal.unavailable``.
    """
    return (await ask_update(client, workflow_id, name, payload, act_id)).delivery


async def ask_update(
    client: Client, workflow_id: str, name: str, payload: JsonValue, update_id: str
) -> Answered:
    """The same, with what the execution said; raises Unavailable ``temporal.unavailable``."""
    handle = client.get_workflow_handle(workflow_id)
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            value = await handle.execute_update(
                name, payload, id=update_id, rpc_timeout=_RPC_TIMEOUT
            )
    except WorkflowUpdateFailedError:
        return Answered(Delivery.NOT_READY)
    except (WorkflowUpdateRPCTimeoutOrCancelledError, TimeoutError) as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            # The SDK turns a cancel of this task into the same error as a slow answer.
            raise asyncio.CancelledError from error
        return Answered(Delivery.UNANSWERED)
    except RPCError as error:
        return Answered(await _without_execution(client, workflow_id, error))
    return Answered(Delivery.TAKEN, value)


async def deliver_cancel(client: Client, workflow_id: str) -> Delivery:
    """Ask an execution to cancel; Raises Unavailable ``temporal.unavailable``.

    The server accepts such a request for an ended execution too, so that is looked up.
    """
    try:
        await client.get_workflow_handle(workflow_id).cancel(rpc_timeout=_RPC_TIMEOUT)
    except RPCError as error:
        return await _without_execution(client, workflow_id, error)
    return await standing(client, workflow_id)


async def standing(client: Client, workflow_id: str) -> Delivery:
    """``closed``, ``absent``, or ``taken`` while the execution is open (Describe never lags)."""
    try:
        found = await client.get_workflow_handle(workflow_id).describe(rpc_timeout=_RPC_TIMEOUT)
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return Delivery.ABSENT
        raise unanswered(error, _REMEDY) from error
    running = found.status is WorkflowExecutionStatus.RUNNING
    return Delivery.TAKEN if running else Delivery.CLOSED


async def _without_execution(client: Client, workflow_id: str, error: RPCError) -> Delivery:
    """Why nothing was found to deliver to: it has ended, or is not there."""
    if error.status is not RPCStatusCode.NOT_FOUND:
        raise unanswered(error, _REMEDY) from error
    found = await standing(client, workflow_id)
    return Delivery.UNANSWERED if found is Delivery.TAKEN else found
