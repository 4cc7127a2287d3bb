"""A worker that dies while a run waits, looks or ends: the run goes on, and ends once."""

from __future__ import annotations

import asyncio

import pytest

from activities.faults import Point
from interpreter.contract.records import RunState
from tests.crash.conftest import Crashing
from tests.crash.test_effects import one_call
from tests.fixtures.definitions import finish
from tests.recovery.conftest import REVIEW, SEND
from tests.recovery.test_temporal_tools import REVIEWED

pytestmark = [pytest.mark.timeout(240), pytest.mark.exhaustive]
WAITING = {
    "pause": {
        "kind": "wait",
        "wait": {"type": "duration", "seconds": 1},
        "outlets": {"elapsed": "done"},
    },
    "done": finish(),
}


@pytest.mark.parametrize("point", ["before-close", "after-close"])
async def test_a_death_at_the_end_of_a_run_ends_it_once(crashing: Crashing, point: Point) -> None:
    run_id = await crashing.start(one_call(SEND))
    await crashing.dies_at(point)
    await crashing.worker()
    assert await crashing.settled(run_id) is RunState.FINISHED
    handle = crashing.client.get_workflow_handle((await crashing.status(run_id)).workflow_id)
    assert (await handle.result())["state"] == "finished"
    assert crashing.applied(SEND) == [1]


async def test_a_death_as_a_wait_opens_opens_it_once(crashing: Crashing) -> None:
    run_id = await crashing.start(WAITING)
    await crashing.dies_at("after-wait-opened")
    await crashing.worker()
    assert await crashing.settled(run_id) is RunState.FINISHED
    assert len((await crashing.inspect(run_id)).waits) == 1


@pytest.mark.parametrize("point", ["before-observation", "after-observation", "after-resolution"])
async def test_a_death_during_a_poll_loses_no_decision(crashing: Crashing, point: Point) -> None:
    run_id = await crashing.start(REVIEWED, dispatch="remote")
    dying = asyncio.create_task(crashing.dies_at(point))
    while not (reviews := crashing.pretend.reviews()):
        await asyncio.sleep(0.05)
    crashing.pretend.decide(reviews[0].review_request_id, "approved")
    await dying
    await crashing.worker()
    assert await crashing.settled(run_id) is RunState.FINISHED
    [wait] = (await crashing.inspect(run_id)).waits
    assert (wait.resolution, crashing.applied(REVIEW)) == ("completed", [1])
