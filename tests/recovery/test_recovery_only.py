"""`coordinator serve` and `worker` with `--recovery-only`, as processes: they look, and no more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client

from adapter.cli.activation import activate_project
from adapter.cli.local_files import Addresses, LocalFiles
from adapter.cli.pretend_connections import pretend_connections
from adapter.config.loading import load_runtime
from adapter.embedded import ChildProcess, free_port
from adapter.ledger import Admission, Ledger, Plan
from adapter.temporal.client import TemporalAddress, connect
from adapter.temporal.runs import start_run
from adapter.wiring.deployment import open_ledger
from adapter.wiring.sealing import codec_of
from examples.products.client import PretendProducts
from examples.products.settings import DEVELOPMENT_BEARER
from interpreter.contract.records import StartState
from interpreter.contract.runs import workflow_id
from tests.fixtures.deployment import ROOT, ready_file, service, worker, write_runtime
from tests.fixtures.postgres import as_owner

PROJECT = ROOT / "examples" / "reviewed-notice"
INPUT = {"applicationId": "APP-1001"}
KINDS = (TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW, TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY)


@dataclass
class Recovering:
    """A deployment with both processes in recovery, and two runs from before."""

    files: LocalFiles
    ledger: Ledger
    temporal: Client
    queue: str
    active: Plan
    http: httpx.AsyncClient

    async def admit(self, key: str) -> str:
        """Admit a run as the service did before."""
        asked = Admission("owner", "", self.active.workflow, key, self.active.revision, INPUT)
        return (await self.ledger.admissions.admit(asked)).run_id

    async def pollers(self) -> int:
        """How many polls Temporal knows of on the deployment's queue."""
        found = 0
        for kind in KINDS:
            asked = DescribeTaskQueueRequest(
                namespace=self.temporal.namespace,
                task_queue=TaskQueue(name=self.queue),
                task_queue_type=kind,
            )
            answer = await self.temporal.workflow_service.describe_task_queue(asked)
            found += len(answer.pollers)
        return found


@pytest.fixture
async def recovering(
    tmp_path: Path,
    database_url: str,
    temporal_address: str,
    task_queue: str,
    products: PretendProducts,
) -> AsyncIterator[Recovering]:
    """The deployment; its processes are started by `in_recovery`."""
    at = Addresses(
        temporal_address,
        "http://127.0.0.1:1",
        free_port(),
        products.base_url,
        database_url,
        as_owner(database_url),
    )
    files = write_runtime(
        tmp_path,
        at,
        pretend_connections(products.base_url),
        {"temporal": {"taskQueue": task_queue}},
        deployment=task_queue,
        products_token=DEVELOPMENT_BEARER,
    )
    active = await activate_project(files.runtime, PROJECT)
    key = {"X-API-Key": files.secret(files.api_key_file.name)}
    async with (
        open_ledger(load_runtime(files.runtime), pool_size=2) as ledger,
        httpx.AsyncClient(base_url=at.api, headers=key, timeout=30) as http,
    ):
        temporal = await connect(TemporalAddress(temporal_address), codec_of(ledger))
        yield Recovering(files, ledger, temporal, task_queue, active, http)


async def in_recovery(made: Recovering, process: ChildProcess, sign: str) -> None:
    """Start a process and wait until it says that it is there."""
    await process.start()
    async with asyncio.timeout(60):
        while sign not in process.log_file.read_text():
            assert process.running, process.log_file.read_text()[-2000:]
            await asyncio.sleep(0.1)


async def test_in_recovery_nothing_is_admitted_started_polled_or_sent(
    recovering: Recovering, products: PretendProducts
) -> None:
    made = recovering
    pending, started = await made.admit("k1"), await made.admit("k2")
    request = await made.ledger.admissions.start_request(started)
    temporal_run = await start_run(made.temporal, request, made.queue)
    await made.ledger.admissions.bind_started(started, 1, temporal_run)
    only = ("", "--recovery-only")
    serving, working = service(made.files, *only), worker(made.files, "worker", *only)
    try:
        await in_recovery(made, serving, "service.listening")
        await in_recovery(made, working, "worker.recovery-only")
        assert (await made.http.get("/ready")).status_code == 503
        body = {"workflow": made.active.workflow, "revision": made.active.revision, "input": INPUT}
        asked = await made.http.post("/v1/runs", json=body, headers={"Idempotency-Key": "k3"})
        assert (asked.status_code, asked.json()["code"]) == (409, "admission.recovery-only")
        # Longer than a pending start is left alone, and than a worker's loops take to come round.
        await asyncio.sleep(6)
        assert (await made.http.get("/v1/doctor")).json()["pendingStarts"] == 1
        shown: dict[str, Any] = (await made.http.get(f"/v1/runs/{started}/inspect")).json()
        assert (shown["effects"], shown["run"]["state"]) == ([], "running")
        assert (await made.ledger.reads.run_status(pending, None)).start_state is StartState.PENDING
        assert await made.pollers() == 0
        assert not ready_file(made.files, "worker").exists()
        assert products.requests() == []
    finally:
        await asyncio.gather(serving.stop(), working.stop())
        execution = workflow_id(request.workflow, started, 1)
        await made.temporal.get_workflow_handle(execution).terminate()
