"""What Temporal itself knows of an execution, by Describe: it never lags, as visibility does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from adapter.temporal.client import unanswered
from interpreter.contract.records import RunState
from interpreter.contract.values import JsonValue

_RPC_TIMEOUT = timedelta(seconds=10)
_REMEDY = "nothing is lost: the next pass of the reconciler looks again"


class Fate(StrEnum):
    """How an execution stands in Temporal; ``missing`` when it knows none of that id."""

    LIVE = "live"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TERMINATED = "terminated"
    TIMED_OUT = "timed-out"
    MISSING = "missing"


_FATES = {
    WorkflowExecutionStatus.RUNNING: Fate.LIVE,
    WorkflowExecutionStatus.CONTINUED_AS_NEW: Fate.LIVE,
    WorkflowExecutionStatus.COMPLETED: Fate.COMPLETED,
    WorkflowExecutionStatus.FAILED: Fate.FAILED,
    WorkflowExecutionStatus.CANCELED: Fate.CANCELLED,
    WorkflowExecutionStatus.TERMINATED: Fate.TERMINATED,
    WorkflowExecutionStatus.TIMED_OUT: Fate.TIMED_OUT,
}


@dataclass(frozen=True, slots=True)
class Found:
    """An execution as it was found; ``result`` is what a completed one published, if it is ours.

    ``started_at`` is Temporal's instant of the start of its present Temporal run.
    """

    fate: Fate
    temporal_run_id: str = ""
    result: Published | None = None
    started_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Published:
    """The outcome and output of a run that finished."""

    outcome: str
    output: JsonValue


async def find(client: Client, workflow_id: str) -> Found:
    """The latest run under a workflow id; Unavailable ``temporal.unavailable``."""
    handle = client.get_workflow_handle(workflow_id)
    try:
        described = await handle.describe(rpc_timeout=_RPC_TIMEOUT)
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return Found(Fate.MISSING)
        raise unanswered(error, _REMEDY) from error
    # A status that this program does not know is left alone, as that of an open one is.
    fate = _FATES.get(described.status, Fate.LIVE) if described.status else Fate.LIVE
    result = None
    if fate is Fate.COMPLETED:
        result = await _published(client, workflow_id, described.run_id)
    return Found(fate, described.run_id, result, described.start_time)


async def _published(client: Client, workflow_id: str, run_id: str) -> Published | None:
    handle = client.get_workflow_handle(workflow_id, run_id=run_id)
    try:
        result = await handle.result(rpc_timeout=_RPC_TIMEOUT)
        if result["state"] != RunState.FINISHED:
            return None
        return Published(str(result["outcome"]), result["output"])
    except (KeyError, TypeError, WorkflowFailureError, ApplicationError):
        return None
    except RPCError as error:
        raise unanswered(error, _REMEDY) from error
