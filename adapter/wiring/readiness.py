"""Whether the workers of a task queue have come up, as Temporal sees it."""

from __future__ import annotations

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError


async def polling_workers(client: Client, task_queue: str) -> int:
    """How many worker processes poll a task queue for activities; 0 when nobody can say."""
    request = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=task_queue),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
    )
    try:
        answer = await client.workflow_service.describe_task_queue(request)
    except RPCError:
        return 0
    return len({poller.identity for poller in answer.pollers})
