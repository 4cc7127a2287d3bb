"""The reconciler over a whole deployment: what it finds of executions, and what it makes of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from temporalio.client import ScheduleOverlapPolicy, WorkflowFailureError

from adapter.ledger import ActKind
from adapter.reconcile.marks import Marks
from adapter.reconcile.passes import Reconciliation
from interpreter.contract.records import RunState
from tests.fixtures.definitions import finish
from tests.recovery.conftest import ONE_MESSAGE, SEND, Site, call

PAUSED: dict[str, Any] = {
    "send": call(SEND, "pause"),
    "pause": {
        "kind": "wait",
        "wait": {"type": "duration", "seconds": 3000},
        "outlets": {"elapsed": "done"},
    },
    "done": finish(),
}


async def paused(site: Site) -> str:
    """A run that has sent its message and waits."""
    run_id = await site.start(PAUSED)
    await site.until(run_id, RunState.WAITING)
    return run_id


async def test_a_live_run_is_left_as_it_is(site: Site) -> None:
    async with site.worker():
        run_id = await paused(site)
        made = await site.reconcile()
        assert (made["looked"], "flagged" in made) == (1, False)
        assert (await site.status(run_id)).state is RunState.WAITING


async def test_terminate_is_found_and_is_never_a_success(site: Site) -> None:
    async with site.worker():
        run_id = await paused(site)
        await (await site.handle(run_id)).terminate()
        assert (await site.reconcile())["flagged"] == 1
        assert (await site.status(run_id)).state is RunState.RECOVERY_REQUIRED
        assert "flagged" not in await site.reconcile()
        ended = await site.act(run_id, ActKind.CANCEL)
        assert ended.outcome == "cancelled-after-effect"


async def test_a_terminated_run_with_an_unknown_effect_is_flagged_too(site: Site) -> None:
    site.pretend.fault(SEND, "lost-response")
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await site.until(run_id, RunState.ATTENTION)
        await (await site.handle(run_id)).terminate()
        await site.reconcile()
        assert (await site.status(run_id)).state is RunState.RECOVERY_REQUIRED
        assert (await site.act(run_id, ActKind.RECONCILE)).outcome == "confirmed"
    assert site.applied() == [1]


async def test_a_reset_brings_a_terminated_run_back_and_repeats_nothing(site: Site) -> None:
    from temporalio.api.common.v1 import WorkflowExecution
    from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest

    async with site.worker():
        run_id = await paused(site)
        handle = await site.handle(run_id)
        await handle.terminate()
        await site.reconcile()
        first = await handle.describe()
        request = ResetWorkflowExecutionRequest(
            namespace="default",
            workflow_execution=WorkflowExecution(workflow_id=handle.id, run_id=first.run_id),
            workflow_task_finish_event_id=4,
            reason="test",
            request_id="r1",
        )
        await site.client.workflow_service.reset_workflow_execution(request)
        assert (await site.reconcile())["resumed"] == 1
        status = await site.status(run_id)
        assert status.temporal_run_id != first.run_id
        assert status.state is not RunState.RECOVERY_REQUIRED
        await asyncio.sleep(0.5)
    assert site.applied() == [1]


async def test_a_run_that_temporal_does_not_know_is_flagged(site: Site) -> None:
    run_id = await site.start(ONE_MESSAGE)
    await site.sql("update coordinator.runs set workflow = 'lost' where id = %s", run_id)
    await site.reconcile()
    assert (await site.status(run_id)).state is RunState.RECOVERY_REQUIRED
    [event] = [
        event
        for event in await site.ledger.reads.events(run_id, None, 0, 100)
        if event.type == "run.recovery-required"
    ]
    assert event.data["code"] == "execution-missing"


async def test_a_finished_run_whose_end_the_ledger_missed_is_finished(site: Site) -> None:
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await site.until(run_id, RunState.FINISHED)
        await site.ended(run_id)
    await site.sql("update coordinator.runs set state = 'running' where id = %s", run_id)
    await site.sql("update coordinator.executions set closed_at = null, closing_state = null")
    assert (await site.reconcile())["finished"] == 1
    status = await site.status(run_id)
    assert (status.state, status.outcome) == (RunState.FINISHED, "done")


async def test_a_failed_execution_that_the_ledger_holds_open_is_not_explained(site: Site) -> None:
    run_id = await site.start(ONE_MESSAGE)
    await site.sql("update coordinator.runs set revision = revision")
    handle = await site.handle(run_id)
    await handle.cancel()
    async with site.worker():
        with pytest.raises(WorkflowFailureError):
            await handle.result()
    await site.sql("update coordinator.runs set state = 'running' where id = %s", run_id)
    await site.sql("update coordinator.executions set closed_at = null, closing_state = null")
    await site.reconcile()
    assert (await site.status(run_id)).state is RunState.RECOVERY_REQUIRED


async def test_the_schedule_makes_passes_one_at_a_time(site: Site) -> None:
    served = replace(site.schedule, task_queue=site.queue)
    marks = Marks(site.ledger, served)
    assert await Reconciliation(marks, site.starter, site.courier).may_poll()
    described = await site.client.get_schedule_handle(site.schedule.id).describe()
    assert described.schedule.policy.overlap is ScheduleOverlapPolicy.SKIP
    async with site.worker(), asyncio.timeout(20):
        while (await site.ledger.census.count()).passed_at is None:
            await asyncio.sleep(0.1)
        line = await site.ledger.watermark.read()
        assert (line.counter, line.marked_epoch) == (1, line.epoch)
        assert await site.schedule.read(site.client) == line.mark
