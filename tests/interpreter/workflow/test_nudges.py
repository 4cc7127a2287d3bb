"""The signal that has a run continue as new: moved once, when nothing is out, and nothing lost."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import CancelledError

from interpreter.contract import names
from interpreter.contract.effects import Reply, ReplyKind
from tests.fixtures.definitions import call, finish
from tests.fixtures.scripted import ScriptedActivities, accepted, not_yet
from tests.interpreter.workflow.paths import COMPLETED, EFFECTS, INSTANT, REVIEWED, nudged, taken
from tests.interpreter.workflow.test_driver import staged, until
from tests.interpreter.workflow.test_signals import EARLY, PAID, TWICE, TWO, give, give_again


async def moves(client: Client, handle: WorkflowHandle[Any, Any]) -> int:
    """How often the execution has continued as new."""
    count, run_id = 0, handle.first_execution_run_id
    while True:
        history = await client.get_workflow_handle(handle.id, run_id=run_id).fetch_history()
        last = history.events[-1]
        if not last.HasField("workflow_execution_continued_as_new_event_attributes"):
            return count
        count += 1
        run_id = last.workflow_execution_continued_as_new_event_attributes.new_execution_run_id


async def moved(client: Client, handle: WorkflowHandle[Any, Any]) -> None:
    """Wait until the execution has continued as new."""
    async with asyncio.timeout(20):
        while not await moves(client, handle):
            await asyncio.sleep(0.05)


async def test_a_nudged_wait_moves_once_and_goes_on(
    client: Client, task_queue: str, runner: Any
) -> None:
    script = ScriptedActivities()
    async with staged(client, task_queue, script, runner=runner) as stage:
        handle = await stage.start(TWICE)
        await until(lambda: script.opened)
        assert await give(handle, {"n": 1}) == "completed"
        await until(lambda: len(script.opened) == 2)
        await handle.signal(names.HAND_OVER_SIGNAL)
        await until(lambda: len(script.opened) == 3)
        assert await give_again(handle, {"n": 1}) == "completed"
        assert await give_again(handle, {"n": 2}, TWO) == "completed"
        assert (await handle.result())["output"] == {"n": 2}
    assert await moves(client, handle) == 1


@pytest.mark.parametrize("first", ["nudge", "signal"])
async def test_a_signal_that_comes_with_a_nudge_is_kept(
    client: Client, task_queue: str, first: str
) -> None:
    script = ScriptedActivities()
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(PAID)
        await until(lambda: script.opened)
        nudge = handle.signal(names.HAND_OVER_SIGNAL)
        paid = handle.signal("paid", {"amount": 3})
        await asyncio.gather(*([nudge, paid] if first == "nudge" else [paid, nudge]))
        assert (await handle.result())["output"] == {"amount": 3}
    assert script.dropped == []


async def test_an_attempt_that_is_out_keeps_a_nudged_run_until_it_is_answered(
    client: Client, task_queue: str
) -> None:
    script = ScriptedActivities(one=[accepted()])
    script.hold["one"] = asyncio.Event()
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(EARLY)
        await until(lambda: script.asked)
        await handle.signal(names.HAND_OVER_SIGNAL)
        await asyncio.sleep(0.5)
        assert await moves(client, handle) == 0
        script.hold["one"].set()
        await moved(client, handle)
        await handle.signal("paid", {"amount": 3})
        assert (await handle.result())["outcome"] == "done"
    assert [identity for identity, _, _ in script.asked] == ["main/one:1:1"]


async def test_a_run_in_attention_moves_with_its_unknown_effect(
    client: Client, task_queue: str
) -> None:
    unknown = Reply(ReplyKind.UNKNOWN, code="transport-uncertain")
    script = ScriptedActivities(one=[unknown, accepted()], two=[accepted()])
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(EFFECTS)
        await until(lambda: script.asked)
        await handle.signal(names.HAND_OVER_SIGNAL)
        await moved(client, handle)
        await taken(client.get_workflow_handle(handle.id), names.RETRY_SAME, 2)
        assert (await handle.result())["outcome"] == "done"
    sent = [identity for identity, _, _ in script.asked]
    assert sent == ["main/one:1:1", "main/one:1:2", "main/two:1:1"]
    assert script.confirmed == ["main/one:1:1"]


async def test_nudges_without_end_keep_no_run_from_going_on(
    client: Client, task_queue: str
) -> None:
    script = ScriptedActivities(
        submit=[accepted()], wait=[not_yet(0.2), COMPLETED], send=[accepted()]
    )
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(REVIEWED)
        current = client.get_workflow_handle(handle.id)

        async def nudge() -> None:
            while True:
                await current.signal(names.HAND_OVER_SIGNAL)
                await asyncio.sleep(0.2)

        nudging = asyncio.create_task(nudge())
        async with asyncio.timeout(40):
            assert (await handle.result())["outcome"] == "done"
        nudging.cancel()
        await asyncio.gather(nudging, return_exceptions=True)


async def test_a_nudged_poll_is_opened_again_in_the_next_execution(
    client: Client, task_queue: str
) -> None:
    script = ScriptedActivities(
        submit=[accepted()], wait=[not_yet(900), COMPLETED], send=[accepted()]
    )
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(REVIEWED)
        await until(lambda: len(script.asked) == 2)
        await handle.signal(names.HAND_OVER_SIGNAL)
        assert (await handle.result())["outcome"] == "done"
    assert await moves(client, handle) == 1


async def test_a_stranger_s_nudges_move_a_run_once_each_at_most(
    client: Client, task_queue: str
) -> None:
    script = ScriptedActivities()
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(PAID)
        await nudged(handle, script)
        await asyncio.gather(*(handle.signal(names.HAND_OVER_SIGNAL, "junk") for _ in range(20)))
        await until(lambda: len(script.opened) >= 3)
        await asyncio.sleep(1)
        once = await moves(client, handle)
        await asyncio.sleep(1)
        assert await moves(client, handle) == once <= 21
        await handle.signal("paid", {"amount": 3})
        assert (await handle.result())["output"] == {"amount": 3}


async def test_a_cancel_told_again_after_a_nudge_leaves_the_route_s_waits_open(
    client: Client, task_queue: str
) -> None:
    wait = {**TWICE["wait"], "outlets": {"resumed": "done", "cancelled": "pause"}}
    pause = {**INSTANT["wait"], "wait": {"type": "duration", "seconds": 3}}
    script = ScriptedActivities()
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start({"wait": wait, "pause": pause, "done": finish()})
        await until(lambda: len(script.opened) == 1)
        current = client.get_workflow_handle(handle.id)
        await current.cancel()
        await until(lambda: len(script.opened) == 2)
        await current.signal(names.HAND_OVER_SIGNAL)
        await until(lambda: len(script.opened) == 3)
        await current.cancel()
        async with asyncio.timeout(15):
            with pytest.raises(WorkflowFailureError) as ended:
                await handle.result()
        assert isinstance(ended.value.cause, CancelledError)
    assert script.closings[-1].outcome == "done"


@pytest.mark.parametrize("kind", ["send", "read"])
async def test_a_call_in_back_off_moves_and_is_made_again_under_its_name(
    client: Client, task_queue: str, kind: str, runner: Any
) -> None:
    nodes = {"one": call(kind, "done"), "done": finish()}
    script = ScriptedActivities(one=[not_yet(900), not_yet(900), accepted()])
    script.resolutions = [7]
    if kind == "send":
        script.replies["one"].pop(0)
    async with staged(client, task_queue, script, runner) as stage:
        handle = await stage.start(nodes)
        tries = len(script.replies["one"]) - 1
        await until(lambda: len(script.asked) == tries)
        await asyncio.sleep(0.3)
        begun = int(time.time() * 1000)
        await handle.signal(names.HAND_OVER_SIGNAL)
        assert (await handle.result())["outcome"] == "done"
    assert await moves(client, handle) == 1
    assert {identity for identity, _, _ in script.asked} == {"main/one:1:1"}
    [*_, (_, local, again)] = script.asked
    assert not local
    assert begun - 60_000 < again["sinceMs"] < begun
    assert again["seen"] == 7


async def test_a_cancel_while_a_call_moves_ends_the_run(client: Client, task_queue: str) -> None:
    refused = Reply(ReplyKind.NOT_PERMITTED, code="cancel")
    script = ScriptedActivities(one=[not_yet(900), refused])
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(EFFECTS)
        await until(lambda: script.asked)
        await asyncio.sleep(0.3)
        await asyncio.gather(handle.signal(names.HAND_OVER_SIGNAL), handle.cancel())
        with pytest.raises(WorkflowFailureError) as ended:
            await handle.result()
        assert isinstance(ended.value.cause, CancelledError)


async def test_a_run_of_many_calls_moves_between_two_of_them(
    client: Client, task_queue: str
) -> None:
    script = ScriptedActivities(one=[accepted()], two=[accepted()])
    script.hold["one"] = asyncio.Event()
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(EFFECTS)
        await until(lambda: script.asked)
        await handle.signal(names.HAND_OVER_SIGNAL)
        await asyncio.sleep(0.3)
        script.hold["one"].set()
        assert (await handle.result())["outcome"] == "done"
    assert await moves(client, handle) == 1
    assert [identity for identity, _, _ in script.asked] == ["main/one:1:1", "main/two:1:1"]
