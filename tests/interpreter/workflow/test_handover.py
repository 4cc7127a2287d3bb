"""Continue-as-new on a server that suggests it early."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHandle

from adapter.embedded import FAST_TIMERS, EmbeddedTemporal
from adapter.worker import WorkerParts, new_worker
from interpreter.contract import names
from interpreter.contract.calls import WaitEnd
from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.runs import workflow_id
from interpreter.workflow.programs import PROGRAMS
from tests.fixtures.clear import clear_converter
from tests.fixtures.definitions import call, definition, start_of
from tests.fixtures.scripted import ScriptedActivities, accepted, not_yet
from tests.interpreter.workflow.paths import (
    EFFECTS,
    INSTANT,
    REVIEWED,
    SIGNAL,
    asked,
    taken,
)
from tests.interpreter.workflow.test_signals import TWICE, TWO, give, give_again

_EARLY = {**FAST_TIMERS, "limit.historyCount.suggestContinueAsNew": "12"}


@pytest.fixture
async def early_client(tmp_path: Path) -> AsyncIterator[Client]:
    """A client of a server that suggests continue-as-new after a dozen events."""
    server = EmbeddedTemporal(None, log_file=tmp_path / "log", ui=False, dynamic_config=_EARLY)
    await server.start()
    try:
        yield await Client.connect(server.address, data_converter=clear_converter())
    finally:
        await server.stop()
        await asyncio.sleep(0.1)


async def _start(client: Client, queue: str, nodes: dict[str, Any]) -> WorkflowHandle[Any, Any]:
    made = definition({name: dict(node) for name, node in nodes.items()})
    PROGRAMS.put(made, len(made.to_bytes()))
    run_id = str(uuid.uuid4())
    deadline = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    start = start_of(made, run_id=run_id, deadline_at=deadline)
    return await client.start_workflow(
        "sample",
        start,
        id=workflow_id("sample", run_id, 1),
        task_queue=queue,
        result_type=dict,
    )


async def _continued(client: Client, handle: WorkflowHandle[Any, Any]) -> bool:
    first = client.get_workflow_handle(handle.id, run_id=handle.first_execution_run_id)
    last = (await first.fetch_history()).events[-1]
    return last.HasField("workflow_execution_continued_as_new_event_attributes")


async def test_a_poll_moves_to_the_next_execution_and_is_opened_there(
    early_client: Client,
) -> None:
    script = ScriptedActivities(
        submit=[accepted()],
        wait=[not_yet(900), not_yet(900), WaitEnd("completed", {"decision": "yes"})],
        send=[accepted()],
    )
    async with new_worker(WorkerParts(early_client, "q", script.callables(), grace_seconds=1)):
        handle = await _start(early_client, "q", REVIEWED)
        for count in (2, 3):
            await asked(script, count)
            await asyncio.sleep(0.3)
            await handle.signal("coordinator.hint")
        assert (await handle.result())["outcome"] == "done"
        assert await _continued(early_client, handle)


async def test_a_signal_wait_and_its_kept_signals_survive_the_handover(
    early_client: Client,
) -> None:
    script = ScriptedActivities()
    async with new_worker(WorkerParts(early_client, "q", script.callables(), grace_seconds=1)):
        handle = await _start(early_client, "q", SIGNAL)
        for _ in range(8):
            await handle.signal("paid", "of no use")
            await asyncio.sleep(0.05)
        current = early_client.get_workflow_handle(handle.id)
        await current.signal("paid", {"amount": 4})
        assert (await handle.result())["output"] == {"amount": 4}
        assert await _continued(early_client, handle)


@pytest.mark.parametrize("wait", [SIGNAL, INSTANT])
async def test_a_wait_that_opens_when_the_handover_is_due_moves_on(
    wait: dict[str, Any], early_client: Client
) -> None:
    calls = {f"call{n}": call("send", f"call{n + 1}") for n in range(3)}
    nodes = {**calls, "call3": call("send", "wait"), **wait}
    script = ScriptedActivities()
    script.replies = {name: [accepted()] for name in nodes if name.startswith("call")}
    async with new_worker(WorkerParts(early_client, "q", script.callables(), grace_seconds=1)):
        handle = await _start(early_client, "q", nodes)
        while not await _continued(early_client, handle):
            await asyncio.sleep(0.05)
        if wait is SIGNAL:
            await early_client.get_workflow_handle(handle.id).signal("paid", {"amount": 4})
        assert (await handle.result())["outcome"] == "done"


async def test_a_signal_delivered_again_after_the_handover_is_taken_once(
    early_client: Client,
) -> None:
    script = ScriptedActivities()
    async with new_worker(WorkerParts(early_client, "q", script.callables(), grace_seconds=1)):
        handle = await _start(early_client, "q", TWICE)
        while not script.opened:
            await asyncio.sleep(0.05)
        assert await give(handle, {"n": 1}) == "completed"
        while not await _continued(early_client, handle):
            await handle.signal("coordinator.hint")
            await asyncio.sleep(0.05)
        current = early_client.get_workflow_handle(handle.id, result_type=dict)
        assert await give_again(current, {"n": 1}) == "completed"
        assert (await current.describe()).close_time is None
        assert await give_again(current, {"n": 2}, TWO) == "completed"
        assert (await current.result())["output"] == {"n": 2}


async def test_an_act_delivered_again_after_the_handover_happens_once(
    early_client: Client,
) -> None:
    unknown = Reply(ReplyKind.UNKNOWN, code="transport-uncertain")
    script = ScriptedActivities(one=[unknown, unknown, accepted()], two=[accepted()])
    async with new_worker(WorkerParts(early_client, "q", script.callables(), grace_seconds=1)):
        handle = await _start(early_client, "q", EFFECTS)
        await taken(handle, names.RETRY_SAME, 2)
        while not await _continued(early_client, handle):
            await handle.signal("coordinator.hint")
            await asyncio.sleep(0.05)
        current = early_client.get_workflow_handle(handle.id)
        for generation in (2, 3):
            await taken(current, names.RETRY_SAME, generation)
        assert (await handle.result())["outcome"] == "done"
    sent = [identity for identity, _, _ in script.asked]
    assert sent == [*(f"main/one:1:{n}" for n in (1, 2, 3)), "main/two:1:1"]
