"""What a worker takes over from its deployment."""

from __future__ import annotations

from datetime import timedelta

from temporalio import activity
from temporalio.client import Client

from adapter.worker import WorkerParts, new_worker


@activity.defn
async def nothing() -> None:
    """Nothing."""


async def test_a_task_waits_for_its_worker_as_long_as_the_deployment_says(
    temporal_client: Client, task_queue: str
) -> None:
    parts = WorkerParts(temporal_client, task_queue, [nothing], sticky_seconds=7)
    made = new_worker(parts).config()
    assert made["sticky_queue_schedule_to_start_timeout"] == timedelta(seconds=7)
