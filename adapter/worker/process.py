"""A worker: built from its parts, run until it is told to stop, drained before it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.worker import (
    PollerBehaviorAutoscaling,
    UnsandboxedWorkflowRunner,
    Worker,
    WorkerDeploymentConfig,
    WorkflowRunner,
)

from interpreter.workflow.run import InterpretedRun
from interpreter.workflow.upkeep import ReconcilePass, VersionedReconcilePass


@dataclass(frozen=True, slots=True)
class WorkerParts:
    """What a worker is made of, and its limits.

    ``sticky_seconds`` is how long a task waits for a worker that may be dead (techniques 9);
    ``grace_seconds`` how long a stopping worker lets an effect finish. With a ``version`` the
    worker serves the runs of its own build alone, and new ones while that is the current one.
    """

    client: Client
    task_queue: str
    activities: Sequence[Callable[..., Any]]
    sticky_seconds: float = 3.0
    grace_seconds: float = 20.0
    cached_runs: int = 1_000
    activity_slots: int = 100
    local_slots: int = 100
    workflow_slots: int = 100
    version: WorkerDeploymentVersion | None = None


def new_worker(parts: WorkerParts, *, runner: WorkflowRunner | None = None) -> Worker:
    """A worker that serves every definition and operation.

    Unsandboxed by default: the only workflow code is this interpreter, whose determinism the
    import contracts, the sandboxed test run and the recorded histories guard (techniques 2).
    """
    return Worker(
        parts.client,
        task_queue=parts.task_queue,
        workflows=[InterpretedRun, VersionedReconcilePass if parts.version else ReconcilePass],
        activities=parts.activities,
        workflow_runner=runner or UnsandboxedWorkflowRunner(),
        max_cached_workflows=parts.cached_runs,
        max_concurrent_activities=parts.activity_slots,
        max_concurrent_local_activities=parts.local_slots,
        max_concurrent_workflow_tasks=parts.workflow_slots,
        workflow_task_poller_behavior=PollerBehaviorAutoscaling(),
        activity_task_poller_behavior=PollerBehaviorAutoscaling(),
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=parts.sticky_seconds),
        graceful_shutdown_timeout=timedelta(seconds=parts.grace_seconds),
        deployment_config=_pinned(parts.version),
    )


def _pinned(version: WorkerDeploymentVersion | None) -> WorkerDeploymentConfig | None:
    """A run stays on the build that began it, until it continues as new (protocol rule 8)."""
    if version is None:
        return None
    return WorkerDeploymentConfig(
        version=version,
        use_worker_versioning=True,
        default_versioning_behavior=VersioningBehavior.PINNED,
    )


async def run_worker(parts: WorkerParts, stop: asyncio.Event) -> None:
    """Run a worker until ``stop`` is set; what is being sent is settled first.

    The last pause lets the SDK hand back its futures: an interpreter that ends at once can crash
    (techniques 16).
    """
    try:
        async with new_worker(parts):
            await stop.wait()
    finally:
        await asyncio.sleep(0.1)
