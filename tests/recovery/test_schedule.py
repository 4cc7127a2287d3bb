"""The reconciler's schedule is as the deployment wants it, also where no pass could mend it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from temporalio.client import ScheduleActionStartWorkflow

from adapter.reconcile.marks import Marks, Verdict
from tests.recovery.conftest import Site


async def test_a_worker_of_another_task_queue_has_its_passes_made_there(site: Site) -> None:
    assert await site.reconciliation.may_poll()
    moved = replace(site.schedule, task_queue="moved", every=timedelta(minutes=2))
    assert await Marks(site.ledger, moved).ensure(site.client) is Verdict.AGREE
    found = (await site.client.get_schedule_handle(moved.id).describe()).schedule
    assert isinstance(found.action, ScheduleActionStartWorkflow)
    assert found.action.task_queue == "moved"
    assert [one.every for one in found.spec.intervals] == [timedelta(minutes=2)]


async def test_a_schedule_that_stands_is_left_alone_by_workers_that_start(site: Site) -> None:
    assert await site.reconciliation.may_poll()
    handle = site.client.get_schedule_handle(site.schedule.id)
    before = (await handle.describe()).raw_description.conflict_token
    assert await site.reconciliation.may_poll()
    assert (await handle.describe()).raw_description.conflict_token == before
