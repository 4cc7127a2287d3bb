"""What Temporal says of a deployment's executions as a whole, and of the namespace they live in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from adapter.temporal.client import unanswered

_RPC_TIMEOUT = timedelta(seconds=5)
_FAILING = (
    'TaskQueue = "{}" AND ExecutionStatus = "Running" AND TemporalReportedProblems IS NOT NULL'
)


@dataclass(frozen=True, slots=True)
class NamespaceFacts:
    """How long closed executions are kept, and how many open ones of ours fail with every task.

    ``failing`` is None where the server does not note that.
    """

    retention: timedelta
    failing: int | None


async def facts_of(client: Client, task_queue: str) -> NamespaceFacts:
    """The facts of this moment; Unavailable ``temporal.unavailable``.

    Which tasks fail is told by visibility, which lags by a moment, and from the fifth failure on.
    """
    request = DescribeNamespaceRequest(namespace=client.namespace)
    try:
        answer = await client.workflow_service.describe_namespace(request, timeout=_RPC_TIMEOUT)
        failing = await _failing(client, task_queue)
    except RPCError as error:
        raise unanswered(error, "look at the Temporal server, then ask again") from error
    kept = answer.config.workflow_execution_retention_ttl.ToTimedelta()
    return NamespaceFacts(kept, failing)


async def _failing(client: Client, task_queue: str) -> int | None:
    escaped = task_queue.replace("\\", "\\\\").replace('"', '\\"')
    try:
        found = await client.count_workflows(_FAILING.format(escaped), rpc_timeout=_RPC_TIMEOUT)
    except RPCError:
        # An older server has no such search attribute, and visibility may be away by itself.
        return None
    return found.count
