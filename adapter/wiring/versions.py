"""From a runtime file to the build of a worker, and to what a deployment knows of its builds."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from temporalio.common import WorkerDeploymentVersion

from adapter.config.loading import Runtime
from adapter.config.location import setting
from adapter.config.words import BUILD_ID
from adapter.errors import Usage
from adapter.reconcile.builds import Builds
from adapter.wiring.deployment import TemporalServer, open_ledger
from adapter.wiring.sealing import codec_of

VARIABLE = "COORDINATOR_BUILD_ID"


def own_version(
    runtime: Runtime, environment: Mapping[str, str] = os.environ
) -> WorkerDeploymentVersion | None:
    """What a worker of this process is told apart by, None where builds are not told apart.

    The build id of the environment wins: it belongs to an image, and one runtime file serves
    several. Raises Usage ``versions.build-unnamed``.
    """
    told_apart = runtime.document.temporal.deployment
    if told_apart is None:
        return None
    build = setting("BUILD_ID", environment) or told_apart.build_id or ""
    if re.fullmatch(BUILD_ID, build) is None:
        raise Usage(
            "versions.build-unnamed",
            "the build of this worker is not named, or not by 1 to 128 letters, digits and ._+-",
            place=VARIABLE,
            remedy=f"set {VARIABLE} in the image, or temporal.deployment.buildId",
        )
    return WorkerDeploymentVersion(deployment_name(runtime), build)


def deployment_name(runtime: Runtime) -> str:
    """The name that the builds have in Temporal; Usage ``versions.off`` where there are none."""
    told_apart = runtime.document.temporal.deployment
    if told_apart is None:
        raise Usage(
            "versions.off",
            "this deployment does not tell builds of its workers apart",
            place="temporal.deployment",
            remedy="add it to the runtime file, see docs/operate.md",
        )
    return told_apart.name or runtime.document.deployment


@asynccontextmanager
async def open_builds(runtime: Runtime) -> AsyncIterator[Builds]:
    """The deployment's builds, over ledger and Temporal; raises what opening those raises."""
    name = deployment_name(runtime)
    async with open_ledger(runtime, pool_size=2, recovery_only=True) as ledger:
        client = await TemporalServer(runtime, codec_of(ledger)).client()
        yield Builds(ledger, client, name)
