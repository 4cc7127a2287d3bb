"""What people send with Temporal's own CLI, in clear text: refused, journalled, and runs go on."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload, Payloads, WorkflowExecution
from temporalio.api.workflowservice.v1 import SignalWorkflowExecutionRequest
from temporalio.client import Client, WorkflowFailureError

from adapter.embedded import temporal_program
from adapter.ledger import ActKind, SignalWish
from adapter.reconcile.signals import SignalCourier
from interpreter.contract.records import RunState
from interpreter.contract.runs import Binding
from tests.recovery.conftest import ONE_MESSAGE, SEND, FixedTemporal, Site
from tests.recovery.test_reconciler import PAUSED
from tests.recovery.test_signals import PAID
from tests.recovery.test_temporal_tools import asked

CLEAR = '{"amount": 1}'


async def tool(site: Site, *arguments: str) -> tuple[int, str]:
    """Temporal's own CLI; gives its exit code and what it said."""
    address = site.client.service_client.config.target_host
    process = await asyncio.create_subprocess_exec(
        str(temporal_program()),
        *arguments,
        "--address",
        address,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={"HOME": "/nonexistent"},
    )
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode()


async def done_by_hand(site: Site, *arguments: str) -> str:
    """The same for what the server takes."""
    code, said = await tool(site, *arguments)
    assert code == 0, said
    return said


async def execution(site: Site, run_id: str) -> str:
    """A run's workflow id."""
    return (await site.handle(run_id)).id


async def foreign(site: Site, run_id: str) -> list[str]:
    """The reasons that the run's journal has for what was not sealed for it."""
    statement = "select detail from coordinator.journal where chain = %s and kind = %s"
    rows = await site.sql(f"{statement} order by sequence", run_id, "payload.foreign")
    return [detail["code"] for (detail,) in rows]


async def paid(site: Site, run_id: str, payload: Any, key: str = "s1") -> str:
    """Send a signal as the service does; gives its outcome."""
    wish = SignalWish("paid", "ops", key, payload)
    begun = await site.ledger.signals.begin(run_id, wish)
    courier = SignalCourier(site.ledger, FixedTemporal(site.client))
    return (await courier.carry_out(begun, 10)).outcome


async def test_a_signal_in_clear_text_completes_a_wait_that_is_declared(site: Site) -> None:
    async with site.worker():
        run_id = await site.start(PAID)
        await site.until(run_id, RunState.WAITING)
        identity = await execution(site, run_id)
        signal = ("workflow", "signal", "-w", identity, "--name")
        await done_by_hand(site, *signal, "another", "--input", CLEAR)
        await done_by_hand(site, *signal, "coordinator.hint", "--input", CLEAR)
        await done_by_hand(site, *signal, "paid", "--input", CLEAR)
        await site.until(run_id, RunState.FINISHED)
        assert (await site.status(run_id)).output == {"amount": 1}
    assert await foreign(site, run_id) == ["clear"]


async def test_a_deployment_may_take_no_signals_in_clear_text(site: Site) -> None:
    async with site.worker():
        run_id = await site.start(PAID, binding=Binding(plain_signals=False))
        await site.until(run_id, RunState.WAITING)
        identity = await execution(site, run_id)
        await done_by_hand(
            site, "workflow", "signal", "-w", identity, "--name", "paid", "--input", CLEAR
        )
        assert await paid(site, run_id, {"amount": 2}) == "completed"
        await site.until(run_id, RunState.FINISHED)
        assert (await site.status(run_id)).output == {"amount": 2}
    assert await foreign(site, run_id) == ["clear"]


async def test_updates_and_queries_in_clear_text_are_rejected_and_acts_go_on(site: Site) -> None:
    site.pretend.fault(SEND, "lost-response")
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await site.until(run_id, RunState.ATTENTION)
        identity = await execution(site, run_id)
        for name in ("coordinator.retry-same", "coordinator.signal", "another"):
            update = ("workflow", "update", "execute", "-w", identity, "--name", name)
            code, _ = await tool(site, *update, "--input", '{"visit": "x", "generation": 2}')
            assert code != 0
        code, _ = await tool(
            site, "workflow", "query", "-w", identity, "--type", "x", "--input", "1"
        )
        assert code != 0
        assert (await site.act(run_id, ActKind.RETRY_SAME)).outcome == "accepted"
        await site.until(run_id, RunState.FINISHED)
    assert site.applied() == [1]
    assert set(await foreign(site, run_id)) == {"clear"}


@pytest.mark.parametrize(
    "ending",
    [
        ("complete", "--result", '{"id": "forged"}'),
        ("fail", "--reason", "by hand", "--detail", '{"forged": true}'),
    ],
)
async def test_an_activity_that_was_ended_by_hand_is_resolved(
    site: Site, ending: tuple[str, ...]
) -> None:
    site.pretend.fault(SEND, "slow", seconds=1.5)
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await asked(site)
        identity = await execution(site, run_id)
        verb, *rest = ending
        await done_by_hand(
            site, "activity", verb, "-w", identity, "--activity-id", "main/send:1:1", *rest
        )
        await site.until(run_id, RunState.FINISHED)
        await site.ended(run_id)
    assert (site.applied(), len(site.keys())) == ([1], 1)
    assert await foreign(site, run_id) == ["clear"]


@pytest.mark.parametrize("name", ["recovery", "coordinator.reconcile/v1"])
async def test_an_execution_that_a_stranger_starts_does_nothing(site: Site, name: str) -> None:
    identity = f"{name}/{uuid.uuid4()}/1"
    start = ("workflow", "start", "--type", name, "--task-queue", site.queue, "-w", identity)
    memo = ("--memo", 'note="x"', "--static-summary", "by hand")
    async with site.worker():
        await done_by_hand(site, *start, "--input", CLEAR, *memo)
        handle = site.client.get_workflow_handle(identity)
        if name == "recovery":
            with pytest.raises(WorkflowFailureError) as failed:
                await handle.result()
            assert "the start input is not one" in str(failed.value.cause)
        else:
            await handle.result()
    assert site.pretend.requests(SEND) == []


async def test_a_standalone_activity_of_a_stranger_sends_nothing(site: Site) -> None:
    start = ("activity", "start", "--type", SEND, "--task-queue", site.queue)
    identity = f"by-hand-{uuid.uuid4()}"
    limits = ("--start-to-close-timeout", "5s", "--retry-maximum-attempts", "1")
    async with site.worker():
        await done_by_hand(site, *start, "--activity-id", identity, "--input", CLEAR, *limits)
        code, _ = await tool(site, "activity", "result", "--activity-id", identity)
    assert code != 0
    assert site.pretend.requests(SEND) == []


async def test_a_payload_of_another_run_is_refused_and_journalled(site: Site) -> None:
    async with site.worker():
        first, second = await site.start(PAID), await site.start(PAID)
        for run_id in (first, second):
            await site.until(run_id, RunState.WAITING)
        moved = (await raw_history(site, first))[0]["workflowExecutionStartedEventAttributes"]
        [payload] = moved["input"]["payloads"]
        await raw_signal(site, second, payload)
        await raw_signal(site, second, payload)
        assert await paid(site, second, {"amount": 2}) == "completed"
        await site.until(second, RunState.FINISHED)
    assert await foreign(site, second) == ["elsewhere"]
    assert await foreign(site, first) == []


async def test_a_flood_of_clear_text_keeps_no_run_from_going_on(site: Site) -> None:
    async with site.worker():
        run_id = await site.start(PAID)
        await site.until(run_id, RunState.WAITING)
    plain = await Client.connect(site.client.service_client.config.target_host)
    handle = plain.get_workflow_handle(await execution(site, run_id))
    for first in range(0, 400, 50):
        await asyncio.gather(*(handle.signal("paid", n) for n in range(first, first + 50)))
    async with site.worker():
        assert await paid(site, run_id, {"amount": 2}) == "completed"
        await site.until(run_id, RunState.FINISHED)
    assert len(await foreign(site, run_id)) == 20


async def test_a_reset_by_hand_repeats_nothing(site: Site) -> None:
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await site.until(run_id, RunState.FINISHED)
        await site.ended(run_id)
        reset = ("workflow", "reset", "-w", await execution(site, run_id), "--reason", "to see")
        await done_by_hand(site, *reset, "-t", "FirstWorkflowTask")
        assert (await (await site.handle(run_id)).result())["state"] == "finished"
    assert (site.applied(), len(site.pretend.requests(SEND))) == ([1], 1)


async def test_a_cancel_and_a_reset_activity_by_hand_are_as_ever(site: Site) -> None:
    site.pretend.fault(SEND, "rate-limited", retryAfter=60)
    async with site.worker():
        run_id = await site.start(PAUSED)
        await asked(site)
        identity = await execution(site, run_id)
        activity = ("activity", "reset", "-w", identity, "--activity-id", "main/send:1:1")
        await done_by_hand(site, *activity)
        await site.until(run_id, RunState.WAITING)
        await done_by_hand(site, "workflow", "cancel", "-w", identity)
        await site.until(run_id, RunState.CANCELLED_AFTER_EFFECT)
        await site.ended(run_id)
    assert site.applied() == [1]


async def test_a_schedule_that_was_edited_by_hand_keeps_no_mark(site: Site) -> None:
    assert await site.reconciliation.may_poll()
    schedule = site.schedule
    assert await schedule.read(site.client) is not None
    edit = ("schedule", "update", "--schedule-id", schedule.id, "--workflow-id", schedule.id)
    action = ("--type", "coordinator.reconcile/v1", "--task-queue", schedule.task_queue)
    await done_by_hand(
        site, *edit, *action, "--interval", "1m", "--input", '{"epoch": "x", "counter": 9}'
    )
    assert await schedule.read(site.client) is None
    assert not await site.reconciliation.may_poll()


async def raw_history(site: Site, run_id: str) -> list[dict[str, Any]]:
    """The events of a run as Temporal keeps them."""
    plain = await Client.connect(site.client.service_client.config.target_host)
    history = await plain.get_workflow_handle(await execution(site, run_id)).fetch_history()
    events: list[dict[str, Any]] = json.loads(history.to_json())["events"]
    return events


async def raw_signal(site: Site, run_id: str, payload: dict[str, Any]) -> None:
    """Send a payload as it is."""
    from google.protobuf.json_format import ParseDict

    request = SignalWorkflowExecutionRequest(
        namespace="default",
        workflow_execution=WorkflowExecution(workflow_id=await execution(site, run_id)),
        signal_name="paid",
        input=Payloads(payloads=[ParseDict(payload, Payload())]),
        request_id=str(uuid.uuid4()),
    )
    await site.client.workflow_service.signal_workflow_execution(request)
