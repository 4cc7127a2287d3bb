"""The Temporal driver on a real server, with scripted activities."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError, CancelledError

from adapter.worker import WorkerParts, new_worker
from interpreter.contract.calls import WaitEnd
from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.records import Closed, RunState
from interpreter.contract.runs import StartRun, workflow_id
from interpreter.workflow.programs import PROGRAMS
from tests.fixtures.definitions import call, definition, finish, review, start_of
from tests.fixtures.scripted import ScriptedActivities, accepted, not_yet

REVIEWED: dict[str, Any] = {
    "submit": call("submit", "wait"),
    "wait": review("done", expired="late", cancelled="undo"),
    "undo": call("submit", "stopped"),
    "done": finish("done", {"step": "wait"}),
    "late": finish("late"),
    "stopped": finish("stopped"),
}
READS = {
    "one": call("read", "two"),
    "two": call("read", "three"),
    "three": call("read", "done"),
    "done": finish("done", {"step": "three", "path": "/id"}),
}
EFFECTS = {
    "one": call("send", "two"),
    "two": call("send", "three"),
    "three": call("send", "done"),
    "done": finish(),
}


class Stage:
    """A worker with scripted activities, and the runs started on it."""

    def __init__(self, client: Client, queue: str) -> None:
        self.client = client
        self.queue = queue

    async def start(self, nodes: dict[str, Any], **changes: Any) -> WorkflowHandle[Any, Any]:
        """Start a run of these nodes with a deadline an hour from now."""
        made = definition({name: dict(node) for name, node in nodes.items()})
        PROGRAMS.put(made, len(made.to_bytes()))
        deadline = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        start = start_of(
            made, run_id=self.queue.removeprefix("test-"), **{"deadline_at": deadline, **changes}
        )
        return await self.client.start_workflow(
            "sample",
            start,
            id=workflow_id("sample", start.run_id, 1),
            task_queue=self.queue,
            result_type=dict,
        )


@asynccontextmanager
async def staged(
    client: Client, queue: str, script: ScriptedActivities, runner: Any = None
) -> AsyncIterator[Stage]:
    """A running worker for one test."""
    parts = WorkerParts(client, queue, script.callables(), grace_seconds=1)
    async with new_worker(parts, runner=runner):
        yield Stage(client, queue)


async def until(condition: Any) -> None:
    """Wait for something to become true."""
    for _ in range(400):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never became true")


async def events(handle: WorkflowHandle[Any, Any]) -> list[str]:
    """The names of a run's history events."""
    return [
        EventType.Name(event.event_type).removeprefix("EVENT_TYPE_")
        async for event in handle.fetch_history_events()
    ]


async def test_three_reads_cost_nine_events(client: Client, task_queue: str, runner: Any) -> None:
    script = ScriptedActivities(one=[accepted()], two=[accepted()], three=[accepted()])
    async with staged(client, task_queue, script, runner) as stage:
        handle = await stage.start(READS)
        assert await handle.result() == {"state": "finished", "outcome": "done", "output": "r1"}
        assert len(await events(handle)) == 9
    assert [local for _, local, _ in script.asked] == [True, True, True]


async def test_effects_cost_one_event_more_than_by_hand(client: Client, task_queue: str) -> None:
    script = ScriptedActivities(one=[accepted()], two=[accepted()], three=[accepted()])
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(EFFECTS)
        await handle.result()
        assert len(await events(handle)) == 23 + 1
    assert [local for _, local, _ in script.asked] == [False, False, False]


async def test_a_read_that_fails_locally_goes_on_remotely(client: Client, task_queue: str) -> None:
    script = ScriptedActivities(
        one=[ApplicationError("slow", type="go-remote"), accepted()],
        two=[accepted()],
        three=[accepted()],
    )
    async with staged(client, task_queue, script) as stage:
        await (await stage.start(READS)).result()
    assert [(i, local) for i, local, _ in script.asked][:2] == [
        ("main/one:1:1", True),
        ("main/one:1:1", False),
    ]


async def test_activity_types_and_ids_speak_the_user_s_language(
    client: Client, task_queue: str
) -> None:
    script = ScriptedActivities(one=[accepted()], two=[accepted()], three=[accepted()])
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(EFFECTS)
        await handle.result()
        scheduled = [
            event.activity_task_scheduled_event_attributes
            async for event in handle.fetch_history_events()
            if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
        ]
    assert [(s.activity_type.name, s.activity_id) for s in scheduled] == [
        ("messages.send/v1", "main/one:1:1"),
        ("messages.send/v1", "main/two:1:1"),
        ("messages.send/v1", "main/three:1:1"),
    ]


async def test_a_poll_adds_no_events_until_it_finds_its_completion(
    client: Client, task_queue: str, runner: Any
) -> None:
    polls: list[Any] = [not_yet(0.05) for _ in range(5)]
    script = ScriptedActivities(
        submit=[accepted()], wait=[*polls, WaitEnd("completed", {"decision": "yes"})]
    )
    async with staged(client, task_queue, script, runner) as stage:
        handle = await stage.start(REVIEWED)
        assert (await handle.result())["output"] == {"decision": "yes"}
        assert len(await events(handle)) == 5 + 2 * 6 + 1


async def test_a_hint_brings_the_next_read_forward(client: Client, task_queue: str) -> None:
    script = ScriptedActivities(
        submit=[accepted()], wait=[not_yet(900), WaitEnd("completed", {"decision": "yes"})]
    )
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(REVIEWED)
        await until(lambda: len(script.asked) == 2)
        await asyncio.sleep(0.2)
        await handle.signal("coordinator.hint")
        assert (await handle.result())["outcome"] == "done"
    assert script.asked[-1][2]["observe"]["hinted"] is True


async def test_an_expired_wait_takes_its_route(client: Client, task_queue: str) -> None:
    script = ScriptedActivities(submit=[accepted()], wait=[WaitEnd("expired")])
    async with staged(client, task_queue, script) as stage:
        assert (await (await stage.start(REVIEWED)).result())["outcome"] == "late"


async def test_a_cancel_in_temporal_is_recorded_and_follows_the_route(
    client: Client, task_queue: str, runner: Any
) -> None:
    script = ScriptedActivities(submit=[accepted()], wait=[not_yet(900)], undo=[accepted()])
    async with staged(client, task_queue, script, runner) as stage:
        handle = await stage.start(REVIEWED)
        await until(lambda: len(script.asked) == 2)
        await handle.cancel()
        with pytest.raises(WorkflowFailureError) as failure:
            await handle.result()
    assert isinstance(failure.value.cause, CancelledError)
    assert script.cancels == 1
    assert (script.closings[0].state, script.closings[0].outcome) == (RunState.CANCELLED, "stopped")


async def test_a_completion_found_while_cancelling_is_not_lost(
    client: Client, task_queue: str
) -> None:
    script = ScriptedActivities(
        submit=[accepted()], wait=[WaitEnd("completed", {"decision": "yes"})], undo=[accepted()]
    )
    script.hold["wait"] = asyncio.Event()
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(REVIEWED)
        await until(lambda: len(script.asked) == 2)
        await handle.cancel()
        await until(lambda: script.cancels == 1)
        script.hold["wait"].set()
        assert (await handle.result())["outcome"] == "done"


async def test_a_poll_that_a_cancel_has_ended_before_waits_for_the_cancel(
    client: Client, task_queue: str
) -> None:
    script = ScriptedActivities(submit=[accepted()], wait=[WaitEnd("cancelled")], undo=[accepted()])
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(REVIEWED)
        await until(lambda: len(script.asked) == 2)
        await asyncio.sleep(0.5)
        assert script.closings == []
        await handle.cancel()
        await until(lambda: script.closings)
        await asyncio.sleep(0.2)
    assert script.asked[-1][0] == "main/undo:1:1"
    assert script.closings[-1].state is RunState.CANCELLED


async def test_a_wait_on_the_route_of_a_cancel_runs_out_where_the_ledger_has_lost_the_other(
    client: Client, task_queue: str
) -> None:
    script = ScriptedActivities(
        submit=[accepted()], wait=[not_yet(900)], undo=[accepted()], again=[WaitEnd("cancelled")]
    )
    nodes = {
        **REVIEWED,
        "undo": call("submit", "again"),
        "again": review("done", expired="late", cancelled="stopped"),
    }
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(nodes)
        await until(lambda: len(script.asked) == 2)
        await handle.cancel()
        await until(lambda: script.closings)
        await asyncio.sleep(0.2)
    assert script.closings[-1].outcome == "late"


async def test_a_cancel_that_somebody_completes_by_hand_is_recorded_all_the_same(
    client: Client, task_queue: str
) -> None:
    script = ScriptedActivities(submit=[accepted()], wait=[not_yet(900)], undo=[accepted()])
    script.forged_cancels = 2
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(REVIEWED)
        await until(lambda: len(script.asked) == 2)
        await handle.cancel()
        await until(lambda: script.closings)
        await asyncio.sleep(0.2)
    assert script.cancels == 3
    assert script.closings[-1].state is RunState.CANCELLED


async def test_a_cancel_ends_a_back_off_and_asks_the_ledger(
    client: Client, task_queue: str
) -> None:
    script = ScriptedActivities(one=[not_yet(900), Reply(ReplyKind.NOT_PERMITTED, code="cancel")])
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(EFFECTS)
        await until(lambda: len(script.asked) == 1)
        await asyncio.sleep(0.2)
        await handle.cancel()
        with pytest.raises(WorkflowFailureError):
            await handle.result()
    assert script.resolved == ["main/one:1:1"]
    assert script.closings[0].state is RunState.CANCELLED


async def test_a_result_written_by_hand_is_no_reply(client: Client, task_queue: str) -> None:
    script = ScriptedActivities(one=[None], two=[accepted()], three=[accepted()])
    script.resolutions = [accepted()]
    async with staged(client, task_queue, script) as stage:
        await (await stage.start(EFFECTS)).result()
    assert script.resolved == ["main/one:1:1"]


async def test_an_unknown_effect_keeps_the_run_open_for_a_person(
    client: Client, task_queue: str
) -> None:
    script = ScriptedActivities(one=[Reply(ReplyKind.UNKNOWN, code="transport-uncertain")])
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(EFFECTS)
        await until(lambda: script.asked)
        await asyncio.sleep(0.3)
        details = await handle.query("__temporal_workflow_metadata")
        assert "attention" in str(details)
        assert script.closings == []
        await handle.terminate()


async def test_the_outcome_on_record_wins_over_the_machine_s(
    client: Client, task_queue: str
) -> None:
    script = ScriptedActivities(one=[accepted()], two=[accepted()], three=[accepted()])
    script.recorded = Closed(RunState.EXPIRED)
    async with staged(client, task_queue, script) as stage:
        with pytest.raises(WorkflowFailureError) as failure:
            await (await stage.start(READS)).result()
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "expired"


async def test_an_instant_in_the_past_is_over_at_once(client: Client, task_queue: str) -> None:
    wait = {"type": "instant", "at": {"literal": "2020-01-01T00:00:00Z"}}
    nodes = {
        "wait": {"kind": "wait", "wait": wait, "outlets": {"elapsed": "done"}},
        "done": finish(),
    }
    script = ScriptedActivities()
    async with staged(client, task_queue, script) as stage:
        assert (await (await stage.start(nodes)).result())["outcome"] == "done"
    assert script.opened == ["main/wait:1:1/open"]


@pytest.mark.parametrize("value", ["nonsense", {"runId": "x"}, 3])
async def test_a_start_that_nobody_admitted_fails_at_once(
    client: Client, task_queue: str, value: Any
) -> None:
    async with staged(client, task_queue, ScriptedActivities()):
        with pytest.raises(WorkflowFailureError) as failure:
            await client.execute_workflow(
                "sample", value, id=f"x/{task_queue}", task_queue=task_queue
            )
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "not-admitted"


async def test_a_revision_that_no_ledger_holds_fails_at_once(
    client: Client, task_queue: str
) -> None:
    start = StartRun(
        "r", "sample", "1", "sha256:none", {}, "2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z"
    )
    async with staged(client, task_queue, ScriptedActivities()):
        with pytest.raises(WorkflowFailureError) as failure:
            await client.execute_workflow(
                "sample", start, id=f"sample/{task_queue}/1", task_queue=task_queue
            )
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "not-admitted"


async def test_a_start_under_an_id_that_the_coordinator_did_not_give_fails_at_once(
    client: Client, task_queue: str
) -> None:
    made = definition({"done": finish()})
    PROGRAMS.put(made, len(made.to_bytes()))
    async with staged(client, task_queue, ScriptedActivities()):
        with pytest.raises(WorkflowFailureError) as failure:
            await client.execute_workflow(
                "sample", start_of(made), id=task_queue, task_queue=task_queue
            )
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "not-admitted"
