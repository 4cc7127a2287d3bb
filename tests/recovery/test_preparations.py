"""A command whose preparation fails again and again: its run can be ended all the same."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adapter.ledger import ActKind
from interpreter.contract.records import RunState
from tests.fixtures.definitions import finish
from tests.recovery.conftest import SEND, Site, call
from tests.recovery.restoring import released

ACTION = "breg.invoke-action/v1"
METADATA = "breg.read-metadata"


def nodes(attempts: int) -> dict[str, Any]:
    """One action that is attempted so often, and has a way out for what was not applied."""
    decide = call(ACTION, "done")
    decide["policy"]["attempts"] = attempts
    decide["outlets"]["failed"] = "tell"
    told = {"tell": call(SEND, "in-vain"), "in-vain": finish("in-vain")}
    return {"decide": decide, "done": finish("done"), **told}


NODES = nodes(1000)


async def read_in_vain(site: Site, count: int) -> None:
    """Wait until the preparation was tried so often."""
    async with asyncio.timeout(20):
        while len(site.pretend.requests(METADATA)) < count:
            await asyncio.sleep(0.05)


async def test_a_cancel_ends_a_run_whose_command_can_not_be_prepared(site: Site) -> None:
    site.pretend.fault(METADATA, "status-5xx", count=1000)
    async with site.worker():
        run_id = await site.start(NODES)
        await read_in_vain(site, 1)
        assert (await site.act(run_id, ActKind.CANCEL, seconds=20)).outcome == "cancelled"
        await site.ended(run_id)


async def test_the_deadline_ends_a_run_whose_command_can_not_be_prepared(site: Site) -> None:
    site.pretend.fault(METADATA, "status-5xx", count=1000)
    async with site.worker():
        run_id = await site.start(NODES)
        await read_in_vain(site, 1)
        await site.sql("update coordinator.runs set deadline_at = clock_timestamp()")
        await site.until(run_id, RunState.EXPIRED)
        await site.ended(run_id)


async def test_a_preparation_is_tried_as_often_as_the_policy_says(site: Site) -> None:
    site.pretend.fault(METADATA, "status-5xx", count=1000)
    async with site.worker():
        run_id = await site.start(nodes(2))
        done = await site.until(run_id, RunState.FINISHED)
    effect = (await site.inspect(run_id)).effects[0]
    assert (done.outcome, len(site.pretend.requests(METADATA))) == ("in-vain", 2)
    assert [one.settled_as for one in effect.attempts] == ["retryable", "retryable"]
    assert site.applied(ACTION) == []


@pytest.mark.parametrize("fault", ["status-5xx", "refuse"])
async def test_a_preparation_that_fails_says_nothing_of_an_earlier_send(
    site: Site, fault: str
) -> None:
    site.pretend.fault(ACTION, "lost-response")
    async with site.worker():
        run_id = await site.start(NODES)
        await site.until(run_id, RunState.ATTENTION)
        # As a backup from before the send has it, once the review has gone through it.
        await site.sql("delete from coordinator.attempts")
        await site.sql("delete from coordinator.effects")
        await released(site.ledger, leave_unknown=True)
        await site.reconcile()
        async with asyncio.timeout(20):
            while not (await site.inspect(run_id)).effects:
                await asyncio.sleep(0.05)
        site.pretend.fault(METADATA, fault, count=1000)
        act = await site.act(run_id, ActKind.RETRY_SAME)
        assert (act.outcome, (await site.status(run_id)).state) == ("unknown", RunState.ATTENTION)
    assert (site.applied(ACTION), site.applied(SEND)) == ([1], [])
