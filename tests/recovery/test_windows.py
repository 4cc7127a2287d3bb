"""A product that has forgotten the key of a command: what is known of the effect is still told."""

from __future__ import annotations

from interpreter.contract.records import RunState
from tests.fixtures.definitions import finish
from tests.recovery.conftest import ONE_MESSAGE, SEND, Site, call
from tests.recovery.test_temporal_tools import asked

_A_DAY_LATER = "update coordinator.attempts set dispatched_at = dispatched_at - interval '1 day'"


async def test_what_was_never_applied_and_can_not_be_sent_again_is_not_unknown(site: Site) -> None:
    site.pretend.fault(SEND, "rate-limited", retryAfter=2)
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await asked(site)
        await site.sql(_A_DAY_LATER)
        done = await site.until(run_id, RunState.FAILED, RunState.ATTENTION)
        assert (done.state, done.failure_code) == (RunState.FAILED, "receipt-expired")
        await site.ended(run_id)
    [effect] = (await site.inspect(run_id)).effects
    assert (effect.uncertain, site.applied()) == (False, [])


async def test_it_leaves_its_step_by_the_way_of_failures(site: Site) -> None:
    site.pretend.fault(SEND, "rate-limited", retryAfter=2)
    send = call(SEND, "done")
    send["outlets"]["failed"] = "late"
    nodes = {"send": send, "done": finish("done"), "late": finish("late")}
    async with site.worker():
        run_id = await site.start(nodes)
        await asked(site)
        await site.sql(_A_DAY_LATER)
        done = await site.until(run_id, RunState.FINISHED, RunState.ATTENTION)
    assert done.outcome == "late"
