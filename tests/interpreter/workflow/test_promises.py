"""What the driver promises whatever happens around it: ends are written, limits stand."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client
from temporalio.exceptions import ApplicationError

from interpreter.contract import names
from interpreter.workflow.programs import Programs
from tests.fixtures.scripted import ScriptedActivities, accepted
from tests.interpreter.workflow.test_acts import UNKNOWN, retry, sending, taken
from tests.interpreter.workflow.test_driver import EFFECTS, READS, staged, until
from tests.interpreter.workflow.test_signals import PAID, give

SETTLE_SECONDS = 60


class LocallyAway(ScriptedActivities):
    """A ledger that no local activity can close a run in."""

    @activity.defn(name=names.CLOSE_RUN)
    async def close(self, value: Any) -> Any:
        """Fail locally, close remotely."""
        if activity.info().is_local:
            self.asked.append(("close", True, None))
            raise ApplicationError("the ledger is away", type="ledger.unavailable")
        return await super().close(value)


async def test_a_closing_write_that_fails_locally_is_made_remotely(
    client: Client, task_queue: str
) -> None:
    script = LocallyAway(one=[accepted()], two=[accepted()], three=[accepted()])
    async with staged(client, task_queue, script) as stage:
        assert (await (await stage.start(READS)).result())["state"] == "finished"
    assert [name for name, _, _ in script.asked].count("close") == 1
    assert len(script.closings) == 1


async def test_a_remote_attempt_may_settle_through_a_fail_over_and_is_watched(
    client: Client, task_queue: str
) -> None:
    async with staged(client, task_queue, sending(accepted())) as stage:
        handle = await stage.start(EFFECTS)
        await handle.result()
        scheduled = [
            event.activity_task_scheduled_event_attributes
            async for event in handle.fetch_history_events()
            if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
        ]
    for one in scheduled:
        assert one.start_to_close_timeout.ToTimedelta().total_seconds() > SETTLE_SECONDS
        assert 0 < one.heartbeat_timeout.ToTimedelta().total_seconds() <= 15


async def test_a_definition_that_leaves_the_cache_is_kept_by_its_run(
    client: Client, task_queue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = ScriptedActivities()
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(PAID)
        await until(lambda: script.opened)
        monkeypatch.setattr("interpreter.workflow.run.PROGRAMS", Programs())
        assert await give(handle, {"amount": 3}) == "completed"
        assert (await handle.result())["output"] == {"amount": 3}


async def test_an_act_is_taken_before_its_effect_is_done(client: Client, task_queue: str) -> None:
    script = sending(UNKNOWN, accepted())
    async with staged(client, task_queue, script) as stage:
        handle = await stage.start(EFFECTS)
        await until(lambda: script.asked)
        script.hold["one"] = asyncio.Event()
        assert await taken(handle, names.RETRY_SAME, retry()) == {"taken": True}
        assert not script.closings
        script.hold["one"].set()
        assert (await handle.result())["state"] == "finished"
