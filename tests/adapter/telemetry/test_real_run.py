"""A run of real processes: its metrics, and one trace from the request to the products' calls."""

from __future__ import annotations

import asyncio
import json
import re
import urllib.request
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from adapter.cli.activation import activate_project
from adapter.cli.credentials import ApiKey
from adapter.cli.local_files import Addresses, LocalFiles
from adapter.cli.pretend_connections import pretend_connections
from adapter.cli.service_client import ServiceClient
from adapter.config.loading import load_runtime
from adapter.embedded import ChildProcess, free_port
from adapter.errors import Unavailable
from adapter.wiring.deployment import schedule_of
from examples.products.client import PretendProducts
from examples.products.settings import DEVELOPMENT_BEARER
from tests.fixtures.deployment import ROOT, service, until_polling, worker, write_runtime
from tests.fixtures.postgres import as_owner

pytestmark = pytest.mark.timeout(120)
_APPLICANT = "Marker-Otterbein"
_TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@dataclass
class Told:
    """What a run left behind in metrics and traces."""

    run: str
    service: str
    worker: str
    spans: list[dict[str, Any]]

    def spans_named(self, name: str) -> list[dict[str, Any]]:
        """The trace's spans whose name begins so."""
        return [one for one in self.spans if one["name"].startswith(name)]


def _scraped(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        text: str = answer.read().decode()
    return text


def _files(folder: Path, addresses: Addresses, queue: str, ports: dict[str, int]) -> LocalFiles:
    metrics = {kind: {"bind": f"127.0.0.1:{port}"} for kind, port in ports.items()}
    return write_runtime(
        folder,
        addresses,
        pretend_connections(addresses.products),
        {
            "temporal": {"taskQueue": queue},
            "waits": {"floorSeconds": 1, "pollSeconds": {"casework": 1}},
            "telemetry": {"metrics": metrics, "traces": {"file": "traces.jsonl"}},
        },
        deployment=queue,
        products_token=DEVELOPMENT_BEARER,
    )


async def _until_ready(client: ServiceClient, process: ChildProcess) -> None:
    async with asyncio.timeout(60):
        while process.running:
            with suppress(Unavailable):
                client.get("/ready")
                return
            await asyncio.sleep(0.1)
    raise AssertionError(process.log_file.read_text()[-2000:])


async def _finished(client: ServiceClient, products: PretendProducts) -> str:
    [workflow] = client.get("/v1/workflows")["workflows"]
    body = {
        "workflow": workflow["workflow"],
        "revision": workflow["revision"],
        "input": {"applicationId": "APP-7"},
    }
    headers = {"Idempotency-Key": "one", "traceparent": f"00-{_TRACE}-00f067aa0ba902b7-01"}
    run: str = client.post("/v1/runs", body, headers)["runId"]
    async with asyncio.timeout(60):
        while client.get(f"/v1/runs/{run}")["state"] != "finished":
            for review in products.reviews("pending"):
                products.decide(review.review_request_id, "approved")
            await asyncio.sleep(0.2)
    return run


@pytest.fixture
async def told(
    tmp_path: Path,
    database_url: str,
    temporal_address: str,
    temporal_client: Client,
    task_queue: str,
    products: PretendProducts,
) -> Told:
    """A finished run of the example, with everything that was told about it."""
    record = {"applicant": {"name": _APPLICANT, "email": "otter@example.org"}, "purpose": "x"}
    products.put_record("applications", "APP-7", record)
    ports = {"service": free_port(), "worker": free_port()}
    urls = (database_url, as_owner(database_url))
    addresses = Addresses(
        temporal_address, "http://127.0.0.1:1", free_port(), products.base_url, *urls
    )
    files = _files(tmp_path, addresses, task_queue, ports)
    await activate_project(files.runtime, ROOT / "examples" / "reviewed-notice")
    client = ServiceClient(addresses.api, ApiKey(files.secret(files.api_key_file.name)))
    async with AsyncExitStack() as stack:
        processes = [service(files), worker(files, "worker-1")]
        for process in processes:
            stack.push_async_callback(process.stop)
            await process.start()
        await until_polling(files, processes[1])
        await _until_ready(client, processes[0])
        run = await _finished(client, products)
        shown = {kind: _scraped(port) for kind, port in ports.items()}
    await temporal_client.get_schedule_handle(schedule_of(load_runtime(files.runtime)).id).delete()
    lines = (tmp_path / "traces.jsonl").read_text().splitlines()
    spans = [json.loads(line) for line in lines]
    of_run = [one for one in spans if one["context"]["trace_id"] == f"0x{_TRACE}"]
    return Told(run, shown["service"], shown["worker"], of_run)


async def test_a_run_is_one_trace_and_its_metrics_count_it(
    told: Told, products: PretendProducts
) -> None:
    [request] = told.spans_named("startRun")
    [start] = told.spans_named("StartWorkflow:reviewed-notice")
    assert start["parent_id"] == request["context"]["span_id"]
    calls = told.spans_named("call ")
    assert {"call breg.read-record/v1", "call messaging.submit-message/v1"} <= {
        one["name"] for one in calls
    }
    parents = {one["context"]["span_id"] for one in told.spans_named("RunActivity:")}
    assert {one["parent_id"] for one in calls} <= parents
    [sent] = products.requests("messaging.submit-message")
    assert (sent.traceparent or "").split("-")[1] == _TRACE
    counted = re.findall(r"^coordinator_effects_total\{(.*)\} 1$", told.worker, re.MULTILINE)
    assert [one for one in counted if "messaging.submit-message" in one and "accepted" in one]
    assert "temporal_activity_execution_latency_seconds" in told.worker
    assert "coordinator_http_request_seconds_count{" in told.service
    assert "coordinator_admission_seconds_count" in told.service
    assert "coordinator_runs{" in told.service
    everything = told.service + told.worker + json.dumps(told.spans)
    assert told.run in everything
    assert _APPLICANT not in everything
    assert "APP-7" not in everything
