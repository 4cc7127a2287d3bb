"""The embedded Temporal: its data, its settings and its UI."""

from __future__ import annotations

import time
import urllib.request
import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.testing import TimeSkipper, TimeSkippingConfig, WorkflowEnvironment
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from adapter.embedded import EmbeddedError, EmbeddedTemporal


@workflow.defn(sandboxed=False)
class Sleeper:
    """Sleeps for the seconds it is given."""

    @workflow.run
    async def run(self, seconds: float) -> str:
        await workflow.sleep(seconds)
        return "slept"


async def test_runs_and_settings_survive_a_restart(tmp_path: Path) -> None:
    def server() -> EmbeddedTemporal:
        return EmbeddedTemporal(
            tmp_path / "temporal.db",
            log_file=tmp_path / "temporal.log",
            search_attributes={"RunState": "Keyword"},
        )

    async with server() as first:
        client = await Client.connect(first.address)
        await client.start_workflow(Sleeper.run, 1.0, id="kept", task_queue="none")
    async with server() as second:
        client = await Client.connect(second.address)
        description = await client.get_workflow_handle("kept").describe()
        assert description.status == WorkflowExecutionStatus.RUNNING
        listed = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace="default")
        )
        keyword = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
        assert listed.custom_attributes["RunState"] == keyword


async def test_the_ui_answers(tmp_path: Path) -> None:
    async with EmbeddedTemporal(None, log_file=tmp_path / "log", namespace="house") as server:
        with urllib.request.urlopen(server.ui_url, timeout=10) as page:
            assert page.status == 200


async def test_a_wrong_argument_points_to_the_log(tmp_path: Path) -> None:
    server = EmbeddedTemporal(None, log_file=tmp_path / "log", extra_arguments=["--no-such"])
    with pytest.raises(EmbeddedError, match=str(tmp_path / "log")) as caught:
        await server.start()
    assert caught.value.code == "embedded.did-not-start"
    assert "no-such" in (tmp_path / "log").read_text()


async def test_a_taken_port_is_named(tmp_path: Path, temporal_address: str) -> None:
    port = int(temporal_address.rpartition(":")[2])
    with pytest.raises(EmbeddedError, match=str(port)) as caught:
        await EmbeddedTemporal(None, log_file=tmp_path / "log", port=port).start()
    assert caught.value.code == "embedded.port-taken"


async def test_the_shared_server_fires_short_timers_at_once(
    temporal_client: Client, task_queue: str
) -> None:
    async with Worker(temporal_client, task_queue=task_queue, workflows=[Sleeper]):
        began = time.monotonic()
        for _ in range(3):
            handle = await temporal_client.start_workflow(
                Sleeper.run, 0.05, id=str(uuid.uuid4()), task_queue=task_queue
            )
            assert await handle.result() == "slept"
    assert time.monotonic() - began < 2.5


async def test_the_time_skipping_server_skips_weeks(time_skipping: WorkflowEnvironment) -> None:
    weeks = timedelta(weeks=3).total_seconds()
    async with Worker(
        time_skipping.client,
        task_queue="skip",
        workflows=[Sleeper],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        outcome = await time_skipping.client.execute_workflow(
            Sleeper.run, weeks, id="long", task_queue="skip", run_timeout=timedelta(weeks=4)
        )
    assert outcome == "slept"


async def test_the_shared_server_moves_the_clock_of_one_run(
    temporal_client: Client, task_queue: str
) -> None:
    skipper = TimeSkipper(temporal_client, config=TimeSkippingConfig(enabled=False))
    async with Worker(temporal_client, task_queue=task_queue, workflows=[Sleeper]):
        weeks = timedelta(weeks=3)
        handle = await skipper.client.start_workflow(
            Sleeper.run, weeks.total_seconds(), id=str(uuid.uuid4()), task_queue=task_queue
        )
        await skipper.fast_forward(handle, weeks)
        assert await handle.result() == "slept"
