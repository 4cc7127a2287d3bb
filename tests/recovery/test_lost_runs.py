"""Executions of runs that a ledger does not know: they wait for one that does, and it is told."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from temporalio.client import WorkflowExecutionStatus

from adapter.reconcile.diagnosis import Norms
from adapter.reconcile.marks import Marks
from adapter.wiring.oversight import DeploymentOversight
from interpreter.contract.records import RunState
from tests.recovery.conftest import FixedTemporal, Site
from tests.recovery.restoring import Backup, backup
from tests.recovery.test_signals import PAID
from tests.recovery.test_strangers import CLEAR, done_by_hand, execution

__all__ = ["backup"]


async def failing(site: Site) -> int:
    """How many executions the doctor says are failing with every task."""
    marks, norms = Marks(site.ledger, site.schedule), Norms(timedelta(minutes=1), timedelta(), True)
    oversight = DeploymentOversight(marks, FixedTemporal(site.client), norms, site.queue)
    said = await oversight.diagnose()
    counts = {one.code: one.count for one in said.findings}
    assert counts.get("doctor.tasks-failing", 0) == said.failing_executions
    return said.failing_executions or 0


# Temporal waits ten seconds and more between two tries.
@pytest.mark.timeout(180)
async def test_an_execution_whose_run_a_restore_lost_waits_for_a_better_backup_and_is_told(
    site: Site, backup: Backup
) -> None:
    restore = await backup()
    async with site.worker():
        run_id = await site.start(PAID)
        await site.until(run_id, RunState.WAITING)
    identity = await execution(site, run_id)
    signal = ("workflow", "signal", "-w", identity, "--name", "paid", "--input", CLEAR)
    await done_by_hand(site, *signal)
    poorer = site.beside(await restore())
    async with poorer.worker(), asyncio.timeout(60):
        while await failing(poorer) == 0:
            await asyncio.sleep(0.5)
        found = await site.client.get_workflow_handle(identity).describe()
        assert found.status is WorkflowExecutionStatus.RUNNING
    async with site.worker():
        async with asyncio.timeout(90):
            while (await site.status(run_id)).state is not RunState.FINISHED or await failing(site):
                await asyncio.sleep(0.5)
