"""Facts about the namespace that a deployment's executions live in."""

from __future__ import annotations

from datetime import timedelta

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from adapter.errors import Unavailable

_RPC_TIMEOUT = timedelta(seconds=5)


async def retention(client: Client) -> timedelta:
    """How long closed executions are kept; Unavailable ``temporal.unavailable``."""
    request = DescribeNamespaceRequest(namespace=client.namespace)
    try:
        answer = await client.workflow_service.describe_namespace(request, timeout=_RPC_TIMEOUT)
    except RPCError as error:
        raise Unavailable(
            "temporal.unavailable",
            f"Temporal did not answer ({error.status.name})",
            remedy="look at the Temporal server, then ask again",
        ) from error
    return answer.config.workflow_execution_retention_ttl.ToTimedelta()
