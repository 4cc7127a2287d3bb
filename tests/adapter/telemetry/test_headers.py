"""The header by which a trace goes through Temporal, and what strangers may write into it."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, Interceptor, OutboundInterceptor, SignalWorkflowInput
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from adapter.telemetry.interceptors import Tracing
from adapter.telemetry.spans import Spans

_HEADER = "_tracer-data"


@workflow.defn(name="patient")
class _Patient:
    """Ends with the first signal."""

    def __init__(self) -> None:
        self._done = False

    @workflow.run
    async def run(self) -> str:
        await workflow.wait_condition(lambda: self._done)
        return "done"

    @workflow.signal
    def end(self) -> None:
        self._done = True


class _Writes(Interceptor):
    """A stranger who writes into the header of every signal."""

    def __init__(self, header: bytes) -> None:
        self._header = header

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:
        header = Payload(metadata={"encoding": b"json/plain"}, data=self._header)

        class _Outbound(OutboundInterceptor):
            async def signal_workflow(self, input: SignalWorkflowInput) -> None:
                input.headers = {_HEADER: header}
                await super().signal_workflow(input)

        return _Outbound(next)


_DEEP = b"[" * 9_000 + b"]" * 9_000


@pytest.mark.parametrize(
    "header", [b"no json", b"[1]", b"7", b'{"traceparent": 7}', b"null", _DEEP], ids=range(6)
)
async def test_a_trace_header_of_a_stranger_is_left_out(
    header: bytes, temporal_address: str, task_queue: str, tmp_path: Path
) -> None:
    spans = Spans.to_file(tmp_path / "spans", {})
    client = await Client.connect(temporal_address, interceptors=[Tracing(spans)])
    stranger = await Client.connect(temporal_address, interceptors=[_Writes(header)])
    settings: Any = {"task_queue": task_queue, "workflow_runner": UnsandboxedWorkflowRunner()}
    async with Worker(client, workflows=[_Patient], **settings):
        handle = await client.start_workflow("patient", id=task_queue, task_queue=task_queue)
        await stranger.get_workflow_handle(task_queue).signal("end")
        assert await handle.result(rpc_timeout=timedelta(seconds=20)) == "done"
    spans.close()
    names = [json.loads(one)["name"] for one in (tmp_path / "spans").read_text().splitlines()]
    assert "HandleSignal:end" in names
