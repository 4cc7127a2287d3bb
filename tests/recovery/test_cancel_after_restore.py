"""A cancel, or the deadline, that meets an execution which went back to an earlier point."""

from __future__ import annotations

import pytest

from adapter.ledger import ActKind
from interpreter.contract.records import RunState
from tests.fixtures.definitions import finish
from tests.recovery.conftest import SEND, Site, call
from tests.recovery.going_back import OwnTemporal, effects, gone_back, temporal, until_lost, wait

__all__ = ["temporal"]

LOST = {
    "wait": wait("thanks", 600, expired="late", cancelled="undo"),
    "undo": call(SEND, "late"),
    "thanks": call(SEND, "second"),
    "second": wait("done"),
    "late": finish("late"),
    "done": finish("done", {"step": "second"}),
}
BEHIND = {
    **LOST,
    "second": wait("done", 600, cancelled="regret"),
    "regret": call(SEND, "late"),
}


async def paid_by_hand(site: Site, run_id: str) -> None:
    """Complete the wait as a person does in Temporal's UI."""
    await (await site.handle(run_id)).signal("paid", {"of": "the desk"})


async def paid_on_record(site: Site, run_id: str) -> None:
    """Complete the wait as a caller of the API does."""
    await site.signalled(run_id, "s1")


@pytest.mark.parametrize("cancelled", [True, False], ids=["cancel", "deadline"])
async def test_a_wait_that_has_lost_its_signal_ends_with_its_run_and_not_by_its_time(
    site: Site, temporal: OwnTemporal, cancelled: bool
) -> None:
    nodes = {**LOST, "wait": wait("thanks", 12, expired="late", cancelled="undo")}
    async with gone_back(site, temporal, nodes, paid_by_hand) as (site, run_id):
        await until_lost(site, run_id)
        if cancelled:
            await site.act(run_id, ActKind.CANCEL, seconds=40)
        else:
            await site.sql("update coordinator.runs set deadline_at = clock_timestamp()")
        over = RunState.CANCELLED_AFTER_EFFECT if cancelled else RunState.EXPIRED
        await site.until(run_id, *(state for state in RunState if state.final))
        assert (await site.status(run_id)).state is over
        await site.ended(run_id)
        assert await effects(site, run_id) == ["main/thanks:1"]
    assert site.applied() == [1]


async def test_a_cancel_before_a_lost_signal_was_missed_takes_no_route_of_a_passed_wait(
    site: Site, temporal: OwnTemporal
) -> None:
    async with gone_back(site, temporal, LOST, paid_by_hand) as (site, run_id):
        await site.act(run_id, ActKind.CANCEL)
        await site.until(run_id, RunState.CANCELLED_AFTER_EFFECT)
        assert await effects(site, run_id) == ["main/thanks:1"]
    assert site.applied() == [1]


async def test_a_cancel_follows_the_route_of_the_wait_at_which_the_record_ends(
    site: Site, temporal: OwnTemporal
) -> None:
    async with gone_back(site, temporal, BEHIND, paid_on_record) as (site, run_id):
        await site.act(run_id, ActKind.CANCEL)
        assert (await site.until(run_id, RunState.CANCELLED_AFTER_EFFECT)).outcome == "late"
        assert await effects(site, run_id) == ["main/thanks:1", "main/regret:1"]
        # What is told again later finds a run that is over.
        await site.reconcile()
    assert site.applied() == [1, 1]
