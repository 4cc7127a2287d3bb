"""An execution that went back to an earlier point, and what is on record of what it has lost."""

from __future__ import annotations

from adapter.ledger import ActKind
from interpreter.contract.records import RunState
from tests.fixtures.definitions import finish
from tests.recovery.conftest import SEND, Site, call
from tests.recovery.going_back import (
    OwnTemporal,
    effects,
    gone_back,
    pause,
    temporal,
    until_lost,
    wait,
)

__all__ = ["temporal"]

KEPT = {
    "wait": wait("thanks", 600, cancelled="undo"),
    "undo": call(SEND, "late"),
    "thanks": call(SEND, "second"),
    "second": wait("more", 5, expired="regret", cancelled="regret"),
    "regret": call(SEND, "late"),
    "more": call(SEND, "third"),
    "third": wait("done", 600),
    "late": finish("late"),
    "done": finish("done", {"step": "third"}),
}


async def kept_on_record(site: Site, run_id: str) -> None:
    """Give the second wait its signal before it opens."""
    site.pretend.fault(SEND, "slow", apply=True, seconds=1)
    await site.signalled(run_id, "s1")
    await site.signalled(run_id, "s2", "kept", "completed")
    await site.sent(2)


async def kept_by_hand(site: Site, run_id: str) -> None:
    """The same with a signal that only Temporal has."""
    site.pretend.fault(SEND, "slow", apply=True, seconds=1)
    await site.signalled(run_id, "s1")
    await (await site.handle(run_id)).signal("paid", {"of": "the desk"})
    await site.sent(2)


async def test_a_cancel_takes_no_route_of_a_wait_that_had_its_signal_before_it_opened(
    site: Site, temporal: OwnTemporal
) -> None:
    async with gone_back(site, temporal, KEPT, kept_on_record) as (site, run_id):
        await site.act(run_id, ActKind.CANCEL)
        await site.until(run_id, RunState.CANCELLED_AFTER_EFFECT)
        assert await effects(site, run_id) == ["main/thanks:1", "main/more:1"]


async def test_a_wait_that_took_a_kept_signal_which_is_lost_does_not_expire(
    site: Site, temporal: OwnTemporal
) -> None:
    async with gone_back(site, temporal, KEPT, kept_by_hand) as (site, run_id):
        await site.reconcile()
        await until_lost(site, run_id)
        assert await effects(site, run_id) == ["main/thanks:1", "main/more:1"]


LEFT = {
    "pause": pause("done", 10, cancelled="undo"),
    "undo": call(SEND, "rest"),
    "rest": pause("late", 600),
    "late": finish("late"),
    "done": finish("done"),
}


async def cancelled(site: Site, run_id: str) -> None:
    """Cancel the run, and see its route followed."""
    await site.act(run_id, ActKind.CANCEL, seconds=1)
    await site.sent(1)


async def test_a_run_that_was_cancelled_does_not_finish(site: Site, temporal: OwnTemporal) -> None:
    async with gone_back(site, temporal, LEFT, cancelled) as (site, run_id):
        await site.until(run_id, *(state for state in RunState if state.final))
        assert (await site.status(run_id)).state is RunState.CANCELLED_AFTER_EFFECT
        assert await effects(site, run_id) == ["main/undo:1"]
