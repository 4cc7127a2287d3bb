"""Builds of our workers as Temporal tells them apart: which is current, and who runs on which."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from temporalio.api.deployment.v1 import WorkerDeploymentInfo
from temporalio.api.enums.v1 import WorkerDeploymentVersionStatus
from temporalio.api.workflowservice.v1 import (
    DescribeWorkerDeploymentRequest,
    SetWorkerDeploymentCurrentVersionRequest,
)
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from adapter.errors import Refused
from adapter.temporal.client import unanswered
from interpreter.contract import names

_RPC_TIMEOUT = timedelta(seconds=10)
_REMEDY = "look at the Temporal server, then repeat the command: that is harmless"
_PAUSE_SECONDS = 0.5
_NOT_YET = frozenset({RPCStatusCode.NOT_FOUND, RPCStatusCode.FAILED_PRECONDITION})
_STATE = "WORKER_DEPLOYMENT_VERSION_STATUS_"

UNVERSIONED: Final = ""
"""The build of an execution that no versioned worker has had yet."""


@dataclass(frozen=True, slots=True)
class Build:
    """One build; ``state`` is current, ramping, draining, drained, inactive or created."""

    id: str
    state: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class KnownBuilds:
    """The builds that have polled, oldest first; ``current`` None before the first is set."""

    current: str | None
    builds: tuple[Build, ...]


async def known_builds(client: Client, deployment: str) -> KnownBuilds:
    """What Temporal knows of a deployment's builds; Unavailable ``temporal.unavailable``."""
    request = DescribeWorkerDeploymentRequest(
        namespace=client.namespace, deployment_name=deployment
    )
    try:
        answer = await client.workflow_service.describe_worker_deployment(
            request, timeout=_RPC_TIMEOUT
        )
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return KnownBuilds(None, ())
        raise unanswered(error, _REMEDY) from error
    info = answer.worker_deployment_info
    current = info.routing_config.current_deployment_version.build_id
    builds = sorted(map(_build, info.version_summaries), key=lambda build: build.created_at)
    return KnownBuilds(current or None, tuple(builds))


def _build(summary: WorkerDeploymentInfo.WorkerDeploymentVersionSummary) -> Build:
    state = WorkerDeploymentVersionStatus.Name(summary.status)
    created_at = summary.create_time.ToDatetime(UTC)
    word = state.removeprefix(_STATE).lower()
    return Build(summary.deployment_version.build_id, word, created_at)


async def make_current(client: Client, deployment: str, build: str, patience: float) -> None:
    """Have new runs begin on a build, once a worker of it has polled.

    Raises Refused ``versions.build-absent`` when none has within ``patience`` seconds, and
    Unavailable ``temporal.unavailable``.
    """
    request = SetWorkerDeploymentCurrentVersionRequest(
        namespace=client.namespace,
        deployment_name=deployment,
        build_id=build,
        identity=client.identity,
    )
    until = time.monotonic() + patience
    while True:
        try:
            await client.workflow_service.set_worker_deployment_current_version(
                request, timeout=_RPC_TIMEOUT
            )
            return
        except RPCError as error:
            if error.status not in _NOT_YET:
                raise unanswered(error, _REMEDY) from error
            if time.monotonic() >= until:
                raise Refused(
                    "versions.build-absent",
                    "no worker of this build has polled",
                    place=build,
                    remedy="start workers of that build, and look at their logs",
                    status=404,
                ) from error
        await asyncio.sleep(_PAUSE_SECONDS)


async def build_of(client: Client, deployment: str, workflow_id: str) -> str | None:
    """The build that an open execution runs on, None when it is not open.

    A build of another deployment is ``NAME:BUILD``. Raises Unavailable ``temporal.unavailable``.
    """
    try:
        handle = client.get_workflow_handle(workflow_id)
        described = await handle.describe(rpc_timeout=_RPC_TIMEOUT)
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return None
        raise unanswered(error, _REMEDY) from error
    if described.status is not WorkflowExecutionStatus.RUNNING:
        return None
    found = described.raw_description.workflow_execution_info.versioning_info.deployment_version
    if found.deployment_name in ("", deployment):
        return found.build_id or UNVERSIONED
    return f"{found.deployment_name}:{found.build_id}"


async def nudge(client: Client, workflow_id: str) -> bool:
    """Have an execution continue as new once no attempt is out; False when it has ended.

    Raises Unavailable ``temporal.unavailable``.
    """
    try:
        await client.get_workflow_handle(workflow_id).signal(
            names.HAND_OVER_SIGNAL, rpc_timeout=_RPC_TIMEOUT
        )
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return False
        raise unanswered(error, _REMEDY) from error
    return True
