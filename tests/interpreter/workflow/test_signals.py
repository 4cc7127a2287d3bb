"""Signals on a real server: from the ledger as updates, from Temporal's own tools as signals."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHandle, WorkflowUpdateFailedError

from interpreter.contract import names
from interpreter.contract.calls import GivenSignal, OnRecord
from interpreter.contract.records import RunState
from tests.fixtures.definitions import call, finish
from tests.fixtures.scripted import ScriptedActivities, accepted
from tests.interpreter.workflow.test_driver import staged, until

ONE, TWO = "0b9d5a0e-0000-4000-8000-00000000000a", "0b9d5a0e-0000-4000-8000-00000000000b"


def wait(then: str, seconds: int = 99, **outlets: str) -> dict[str, Any]:
    """A wait on ``paid``, whose payload is an object."""
    source = {"type": "signal", "signal": "paid", "schema": {"type": "object"}}
    return {
        "kind": "wait",
        "wait": {**source, "timeoutSeconds": seconds},
        "outlets": {"resumed": then, **outlets},
    }


PAID = {"wait": wait("done"), "done": finish("done", {"step": "wait"})}
SHORT = {
    "wait": wait("done", 1, expired="late"),
    "done": finish("done", {"step": "wait"}),
    "late": finish("late"),
}
EARLY = {"one": call("send", "wait"), **PAID}
TWICE = {"wait": wait("again"), "again": wait("done"), "done": finish("done", {"step": "again"})}

TWICE_MORE = {"more": wait("done", cancelled="late"), "late": finish("late"), "done": finish()}


async def give(handle: WorkflowHandle[Any, Any], payload: Any, id: str = ONE) -> str:
    """Deliver a recorded signal as the ledger's side does; gives the verdict."""
    given = {"name": "paid", "id": id, "payload": payload}
    answer = await handle.execute_update(names.SIGNAL, given, id=str(uuid.uuid4()))
    return str(answer["verdict"])


async def give_again(handle: WorkflowHandle[Any, Any], payload: Any, id: str = ONE) -> str:
    """The same, until the execution has come to where it takes signals."""
    while True:
        try:
            return await give(handle, payload, id)
        except WorkflowUpdateFailedError:
            await asyncio.sleep(0.05)


async def test_a_recorded_signal_completes_its_wait(client: Client, task_queue: str) -> None:
    script = ScriptedActivities()
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(PAID)
        await until(lambda: script.opened)
        assert await give(handle, {"amount": 3}) == "completed"
        assert (await handle.result())["output"] == {"amount": 3}
    [step] = [s for s in script.closings[-1].steps if s.node == "wait"]
    assert (step.outlet, step.code) == ("resumed", ONE)


async def test_an_early_signal_is_kept_and_taken_once(client: Client, task_queue: str) -> None:
    script = ScriptedActivities(one=[accepted()])
    script.hold["one"] = asyncio.Event()
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(EARLY)
        await until(lambda: script.asked)
        assert [await give(handle, {"n": 1}), await give(handle, {"n": 2})] == ["kept", "kept"]
        script.hold["one"].set()
        assert (await handle.result())["output"] == {"n": 1}


async def test_a_repeated_signal_answers_as_before(client: Client, task_queue: str) -> None:
    script = ScriptedActivities()
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(TWICE)
        await until(lambda: script.opened)
        assert [await give(handle, {"n": 1}), await give(handle, {"n": 1})] == ["completed"] * 2
        assert await give(handle, {"n": 2}, TWO) == "completed"
        assert (await handle.result())["output"] == {"n": 2}


async def test_a_signal_that_no_wait_can_take_any_more_is_late(
    client: Client, task_queue: str
) -> None:
    nodes = {"wait": wait("one"), "one": call("send", "done"), "done": finish()}
    script = ScriptedActivities(one=[accepted()])
    script.hold["one"] = asyncio.Event()
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(nodes)
        await until(lambda: script.opened)
        await give(handle, {"n": 1})
        await until(lambda: script.asked)
        assert await give(handle, {"n": 2}, TWO) == "late"
        script.hold["one"].set()
        await handle.result()


@pytest.mark.parametrize("given", [None, 3, {"name": "paid"}, {"name": 1, "id": "x", "payload": 1}])
async def test_an_update_of_another_form_is_refused(
    client: Client, task_queue: str, given: Any
) -> None:
    async with staged(client, task_queue, ScriptedActivities()) as stage:
        handle = await stage.start(PAID)
        with pytest.raises(WorkflowUpdateFailedError):
            await handle.execute_update(names.SIGNAL, given)
        assert await give(handle, {}) in ("kept", "completed")


async def test_a_plain_signal_completes_its_wait_and_junk_is_noted(
    client: Client, task_queue: str, runner: Any
) -> None:
    script = ScriptedActivities()
    async with staged(client, task_queue, script, runner) as stage:
        handle = await stage.start(PAID)
        await until(lambda: script.opened)
        await handle.signal("paid", "not an object")
        await handle.signal("nobody-waits-for-this", {})
        await handle.signal("coordinator.other", {})
        await handle.signal("paid", {"amount": 3})
        assert (await handle.result())["output"] == {"amount": 3}
    expected = [("paid", "unfit"), ("nobody-waits-for-this", "unknown")]
    assert script.dropped == [*expected, ("coordinator.other", "unknown")]


async def test_a_flood_of_junk_is_noted_some_times_only(client: Client, task_queue: str) -> None:
    script = ScriptedActivities()
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(PAID)
        await until(lambda: script.opened)
        await asyncio.gather(*(handle.signal("paid", n) for n in range(40)))
        await handle.signal("paid", {})
        await handle.result()
    assert len(script.dropped) == 20


async def test_a_signal_on_record_came_before_the_end_of_its_wait(
    client: Client, task_queue: str
) -> None:
    script = ScriptedActivities()
    script.first_signals = [GivenSignal(ONE, {"amount": 5})]
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(SHORT)
        assert (await handle.result())["output"] == {"amount": 5}
    assert script.ended == ["main/wait:1:1/end"]


async def test_a_wait_without_a_signal_on_record_expires(client: Client, task_queue: str) -> None:
    async with staged(client, task_queue, ScriptedActivities()) as stage:
        assert (await (await stage.start(SHORT)).result())["outcome"] == "late"


async def test_what_comes_while_a_wait_is_ended_waits_for_the_ledgers_word(
    client: Client, task_queue: str
) -> None:
    script = ScriptedActivities()
    script.hold["end"] = asyncio.Event()
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(SHORT)
        await until(lambda: script.ended)
        await handle.signal("paid", {"too": "late"})
        with pytest.raises(WorkflowUpdateFailedError):
            await give(handle, {"too": "late"})
        script.hold["end"].set()
        assert (await handle.result())["outcome"] == "late"


async def test_a_cancel_hears_how_a_wait_was_ended(client: Client, task_queue: str) -> None:
    script = ScriptedActivities()
    script.hold["end"] = asyncio.Event()
    script.first_signals = [GivenSignal(ONE, {"amount": 5})]
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(SHORT)
        await until(lambda: script.ended)
        await handle.cancel()
        await until(lambda: script.cancels)
        script.hold["end"].set()
        assert (await handle.result())["output"] == {"amount": 5}
    assert ONE in json.dumps([step.to_json() for step in script.closings[-1].steps])


async def test_a_wait_that_has_lost_its_signal_leaves_its_end_to_the_cancel(
    client: Client, task_queue: str
) -> None:
    script = ScriptedActivities()
    script.stopped, script.ahead = "cancel", {"main/wait:1": OnRecord("signal-lost")}
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(SHORT)
        await until(lambda: script.ended)
        await asyncio.sleep(0.5)
        assert script.closings == []
        await handle.cancel()
        await until(lambda: script.closings)
        await asyncio.sleep(0.2)
    assert script.closings[-1].state is RunState.CANCELLED
    assert (script.ends, script.reached) == ([None], [{"after": 0}])


async def test_a_wait_that_has_lost_its_signal_ends_at_the_deadline(
    client: Client, task_queue: str
) -> None:
    script = ScriptedActivities()
    script.stopped = "deadline"
    async with staged(client, task_queue, script) as stage:
        await stage.start(SHORT)
        await until(lambda: script.closings)
        await asyncio.sleep(0.2)
    assert script.closings[-1].state is RunState.EXPIRED


async def test_a_wait_that_follows_a_cancel_says_so_to_the_ledger(
    client: Client, task_queue: str
) -> None:
    script = ScriptedActivities()
    nodes = {
        "first": wait("done", cancelled="wait"),
        "wait": wait("done", 1, expired="late"),
        "done": finish(),
        "late": finish("late"),
    }
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(nodes)
        await until(lambda: script.opened)
        await handle.cancel()
        await until(lambda: script.closings)
        await asyncio.sleep(0.2)
    assert script.ends == [{"afterCancel": True}]
    assert (script.closings[-1].state, script.closings[-1].outcome) == (RunState.CANCELLED, "late")


async def test_what_is_on_record_ahead_comes_before_a_cancel(
    client: Client, task_queue: str
) -> None:
    script = ScriptedActivities(one=[accepted()])
    nodes = {"wait": wait("one", cancelled="done"), "one": call("send", "more"), **TWICE_MORE}
    paid = OnRecord("resumed", GivenSignal(ONE, {"amount": 5}))
    script.ahead = {"main/wait:1": paid, "main/one:1": OnRecord()}
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(nodes)
        await until(lambda: script.opened)
        await handle.cancel()
        await until(lambda: script.closings)
        await asyncio.sleep(0.2)
    assert [identity for identity, _, _ in script.asked] == ["main/one:1:1"]
    assert (script.closings[-1].state, script.closings[-1].outcome) == (RunState.CANCELLED, "late")
