"""Starting and hinting the executions of runs."""

from __future__ import annotations

from datetime import timedelta

from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from adapter.temporal.client import unanswered
from interpreter.contract import names
from interpreter.contract.runs import StartRun, workflow_id

_RPC_TIMEOUT = timedelta(seconds=10)
_REMEDY = "try again with the same ids: nothing is done twice"
_SHORT = 8
"""Digits by which people tell runs apart in Temporal's lists."""


async def start_run(client: Client, start: StartRun, task_queue: str) -> str:
    """Start a run's execution, or find the one that is there; gives Temporal's run id.

    A lost answer means that the execution may exist, so it is safe and right to call again
    (techniques: USE_EXISTING with REJECT_DUPLICATE). Raises Unavailable ``temporal.unavailable``
    when Temporal does not answer.
    """
    identity = workflow_id(start.workflow, start.run_id, start.execution)
    try:
        handle = await client.start_workflow(
            start.workflow,
            start,
            id=identity,
            task_queue=task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            static_summary=f"{start.workflow} {start.version}, run {start.run_id[:_SHORT]}",
            rpc_timeout=_RPC_TIMEOUT,
        )
    except WorkflowAlreadyStartedError as error:
        return error.run_id or ""
    except RPCError as error:
        raise unanswered(error, _REMEDY) from error
    return handle.first_execution_run_id or handle.result_run_id or ""


async def hint(client: Client, start: StartRun | str) -> None:
    """Bring the next read of a run's open completion wait forward; a closed run is no error."""
    identity = (
        start
        if isinstance(start, str)
        else workflow_id(start.workflow, start.run_id, start.execution)
    )
    try:
        await client.get_workflow_handle(identity).signal(
            names.HINT_SIGNAL, rpc_timeout=_RPC_TIMEOUT
        )
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise unanswered(error, _REMEDY) from error
