"""Operators' acts on a running execution: updates that record and return, on a real server."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import (
    Client,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowUpdateFailedError,
)
from temporalio.exceptions import ApplicationError, CancelledError

from interpreter.contract import names
from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.records import Closed, RunState
from tests.fixtures.scripted import ScriptedActivities, accepted
from tests.interpreter.workflow.test_driver import EFFECTS, events, staged, until

UNKNOWN = Reply(ReplyKind.UNKNOWN, code="transport-uncertain")
VISIT = "main/one:1"


def sending(*one: Any) -> ScriptedActivities:
    """Three sends, the first of them answered as given."""
    return ScriptedActivities(one=list(one), two=[accepted()], three=[accepted()])


async def taken(handle: WorkflowHandle[Any, Any], name: str, act: Any, id: str = "") -> Any:
    """Deliver an act, again while the execution has not come to its attention yet."""
    for _ in range(100):
        try:
            return await handle.execute_update(name, act, id=id or str(uuid.uuid4()))
        except WorkflowUpdateFailedError as error:
            if getattr(error.cause, "type", None) != names.NOT_IN_ATTENTION:
                raise
            await asyncio.sleep(0.05)
    raise AssertionError("the act was never taken")


def retry(generation: int = 2) -> dict[str, Any]:
    """A retry-same as the ledger delivers it."""
    return {"visit": VISIT, "generation": generation}


RECONCILE = {"visit": VISIT, "generation": 1, "act": "a1"}


async def test_retry_same_sends_again_as_a_new_generation(
    client: Client, task_queue: str, runner: Any
) -> None:
    script = sending(UNKNOWN, accepted())
    async with staged(client, task_queue, script, runner) as stage:
        handle = await stage.start(EFFECTS)
        assert await taken(handle, names.RETRY_SAME, retry()) == {"taken": True}
        assert (await handle.result())["state"] == "finished"
    ids = [identity for identity, _, _ in script.asked]
    assert ids == ["main/one:1:1", "main/one:1:2", "main/two:1:1", "main/three:1:1"]


async def test_an_act_that_is_delivered_twice_happens_once(client: Client, task_queue: str) -> None:
    script = sending(UNKNOWN)
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(EFFECTS)
        for _ in range(3):
            await taken(handle, names.RETRY_SAME, retry(), id="act-1")
        # Continue-as-new makes the server forget an id: the generation tells the machine instead.
        await taken(handle, names.RETRY_SAME, retry(), id="act-1-forgotten")
        await asyncio.sleep(0.3)
        assert [identity for identity, _, _ in script.asked] == ["main/one:1:1", "main/one:1:2"]
        await handle.terminate()


async def test_a_confirmed_receipt_lets_the_run_go_on(
    client: Client, task_queue: str, runner: Any
) -> None:
    script = sending(UNKNOWN)
    script.receipts = [accepted({"id": "m1"})]
    async with staged(client, task_queue, script, runner) as stage:
        handle = await stage.start(EFFECTS)
        await taken(handle, names.RECONCILE, RECONCILE)
        assert (await handle.result())["state"] == "finished"
    assert script.reconciled == [f"{VISIT}:1"]
    assert [identity for identity, _, _ in script.asked].count(f"{VISIT}:1") == 1


async def test_a_receipt_that_proves_nothing_changes_nothing(
    client: Client, task_queue: str
) -> None:
    script = sending(UNKNOWN)
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(EFFECTS)
        await taken(handle, names.RECONCILE, RECONCILE)
        await until(lambda: script.reconciled)
        assert "attention" in str(await handle.query("__temporal_workflow_metadata"))
        assert script.closings == []
        await handle.terminate()


@pytest.mark.parametrize(
    "act", [None, {}, [], {"visit": 3, "generation": 2}, {"visit": "main/two:1", "generation": 2}]
)
@pytest.mark.parametrize("name", [names.RETRY_SAME, names.RECONCILE])
async def test_an_act_about_nothing_unknown_leaves_no_trace(
    client: Client, task_queue: str, name: str, act: Any
) -> None:
    script = sending(UNKNOWN)
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(EFFECTS)
        await until(lambda: script.asked)
        await asyncio.sleep(0.2)
        before = await events(handle)
        with pytest.raises(WorkflowUpdateFailedError):
            await handle.execute_update(name, act)
        assert await events(handle) == before
        await handle.terminate()


async def test_a_cancel_leaves_an_unknown_effect_and_a_receipt_ends_the_run(
    client: Client, task_queue: str, runner: Any
) -> None:
    script = sending(UNKNOWN)
    script.receipts = [accepted({"id": "m1"})]
    async with staged(client, task_queue, script, runner) as stage:
        handle = await stage.start(EFFECTS)
        await until(lambda: script.asked)
        await handle.cancel()
        await until(lambda: script.cancels == 1)
        assert script.closings == []
        await taken(handle, names.RECONCILE, RECONCILE)
        with pytest.raises(WorkflowFailureError) as failure:
            await handle.result()
    assert isinstance(failure.value.cause, CancelledError)
    assert [closing.state for closing in script.closings] == [RunState.CANCELLED]
    # The ledger is asked once more, which sends nothing: it may be a restored one.
    assert (len(script.asked), script.confirmed) == (1, ["main/one:1:1"])


async def test_a_cancel_while_the_ledger_is_asked_asks_it_no_second_time(
    client: Client, task_queue: str
) -> None:
    script = sending(UNKNOWN)
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(EFFECTS)
        await until(lambda: script.given)
        await asyncio.sleep(0.3)
        script.hold["one"] = asyncio.Event()
        await handle.signal(names.HAND_OVER_SIGNAL)
        await until(lambda: script.confirmed)
        latest = client.get_workflow_handle(handle.id)
        await latest.cancel()
        with pytest.raises(WorkflowUpdateFailedError):
            # An activity of that name is open, and a second one would fail the task for ever.
            await latest.execute_update(names.RETRY_SAME, {**retry(1), "act": "a2"}, id="a2")
        await until(lambda: script.cancels)
        await asyncio.sleep(0.5)
        kinds = {event.event_type async for event in latest.fetch_history_events()}
        assert EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED not in kinds
        script.hold["one"].set()
        await latest.terminate()
    assert script.confirmed == ["main/one:1:1"]


async def test_an_end_that_waits_for_an_unknown_effect_comes_with_its_receipt(
    client: Client, task_queue: str, runner: Any
) -> None:
    script = sending(Reply(ReplyKind.NOT_PERMITTED, code="deadline"))
    script.records = [Closed(RunState.ATTENTION), Closed(RunState.EXPIRED)]
    async with staged(client, task_queue, script, runner) as stage:
        handle = await stage.start(EFFECTS)
        await until(lambda: script.closings)
        await taken(handle, names.RECONCILE, RECONCILE)
        with pytest.raises(WorkflowFailureError) as failure:
            await handle.result()
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "expired"
    assert [closing.state for closing in script.closings] == [RunState.EXPIRED] * 2
