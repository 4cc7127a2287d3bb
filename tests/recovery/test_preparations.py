"""A command whose preparation fails again and again: its run can be ended all the same."""

from __future__ import annotations

import asyncio

from adapter.ledger import ActKind
from interpreter.contract.records import RunState
from tests.fixtures.definitions import finish
from tests.recovery.conftest import Site, call

ACTION = "breg.invoke-action/v1"
NODES = {"decide": call(ACTION, "done"), "done": finish()}


async def read_in_vain(site: Site, count: int) -> None:
    """Wait until the preparation was tried so often."""
    async with asyncio.timeout(20):
        while len(site.pretend.requests("breg.read-metadata")) < count:
            await asyncio.sleep(0.05)


async def test_a_cancel_ends_a_run_whose_command_can_not_be_prepared(site: Site) -> None:
    site.pretend.fault("breg.read-metadata", "status-5xx", count=1000)
    async with site.worker():
        run_id = await site.start(NODES)
        await read_in_vain(site, 1)
        assert (await site.act(run_id, ActKind.CANCEL, seconds=20)).outcome == "cancelled"
        await site.ended(run_id)


async def test_the_deadline_ends_a_run_whose_command_can_not_be_prepared(site: Site) -> None:
    site.pretend.fault("breg.read-metadata", "status-5xx", count=1000)
    async with site.worker():
        run_id = await site.start(NODES)
        await read_in_vain(site, 1)
        await site.sql("update coordinator.runs set deadline_at = clock_timestamp()")
        await site.until(run_id, RunState.EXPIRED)
        await site.ended(run_id)
