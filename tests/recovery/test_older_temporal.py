"""An older Temporal: found, held, and told again what it has lost."""

from __future__ import annotations

import asyncio
import sys

import pytest

from adapter.ledger import ActKind, SignalWish
from interpreter.contract import names
from interpreter.contract.records import RunState
from tests.fixtures.definitions import finish
from tests.recovery.conftest import ONE_MESSAGE, SEND, Site, call
from tests.recovery.going_back import (
    DONE,
    OwnTemporal,
    gone_back,
    pause,
    resolutions,
    temporal,
    until_lost,
    wait,
)
from tests.recovery.restoring import released

__all__ = ["temporal"]

TOLD = {"first": wait("second"), "second": wait("done"), **DONE}
DOUBTFUL = {"send": call(SEND, "second"), "second": wait("done"), **DONE}


async def test_an_older_temporal_is_held_and_its_runs_are_flagged(temporal: OwnTemporal) -> None:
    async with temporal.now() as site:
        assert await site.reconciliation.may_poll()
        kept = await site.start(ONE_MESSAGE)
        temporal.keep()
        lost = await site.start(
            {
                "send": call(SEND, "pause"),
                "pause": pause("more", 2),
                "more": call(SEND, "done"),
                "done": finish(),
            }
        )
        async with site.worker():
            await site.until(kept, RunState.FINISHED)
            await site.until(lost, RunState.WAITING)
        await site.reconcile()
    async with temporal.older() as site:
        assert not await site.reconciliation.may_poll()
        assert (await site.ledger.holds.standing()).hold_code == "temporal-behind"
        assert (await site.reconcile())["flagged"] == 1
        assert (await site.status(lost)).state is RunState.RECOVERY_REQUIRED
        sends = len(site.pretend.requests(SEND))
        await released(site.ledger)
        assert await site.reconciliation.may_poll()
        async with site.worker():
            await site.ended(kept)
        assert (await site.status(lost)).failure_code == "execution-lost"
        assert len(site.pretend.requests(SEND)) == sends == 2


async def take_both(site: Site, told: str, doubtful: str) -> None:
    """Complete a wait of the first run, and settle the unknown effect of the second."""
    await site.signalled(told, "s1")
    assert (await site.act(doubtful, ActKind.RECONCILE)).outcome == "confirmed"
    await site.until(doubtful, RunState.WAITING)


async def finish_both(site: Site, *runs: str) -> None:
    """Complete the last wait of each."""
    for run_id in runs:
        await site.signalled(run_id, "s2", "completed", "kept")
        assert (await site.until(run_id, RunState.FINISHED)).output == {"of": "s2"}


async def test_what_an_older_temporal_has_lost_is_told_again(temporal: OwnTemporal) -> None:
    async with temporal.now() as site:
        site.pretend.fault(SEND, "lost-response")
        assert await site.reconciliation.may_poll()
        async with site.worker():
            told, doubtful = await site.start(TOLD), await site.start(DOUBTFUL)
            await site.until(told, RunState.WAITING)
            await site.until(doubtful, RunState.ATTENTION)
            temporal.keep()
            await take_both(site, told, doubtful)
            await site.reconcile()
            await site.reconcile()
    async with temporal.older() as site:
        assert not await site.reconciliation.may_poll()
        await released(site.ledger)
        async with site.worker():
            assert (await site.reconcile())["repeated"] == 2
            assert (await site.reconcile())["repeated"] == 0
            await finish_both(site, told, doubtful)
        assert site.applied() == [1]


async def test_what_temporal_loses_between_two_marks_is_told_again(temporal: OwnTemporal) -> None:
    async with temporal.now() as site:
        site.pretend.fault(SEND, "lost-response")
        async with site.worker():
            early = await site.start({"pause": pause("second", 12), "second": wait("done"), **DONE})
            told, doubtful = await site.start(TOLD), await site.start(DOUBTFUL)
            stopped = await site.start({"second": wait("done"), **DONE})
            for run_id in (early, told, stopped):
                await site.until(run_id, RunState.WAITING)
            await site.until(doubtful, RunState.ATTENTION)
            await site.reconcile()
            temporal.keep()
            await site.signalled(early, "s1", "kept")
            await take_both(site, told, doubtful)
        # The cancel is on record, and its execution has not answered yet.
        await site.ledger.runs.request_cancel(stopped, "no more")
        await (await site.handle(stopped)).cancel()
    async with temporal.older() as site:
        assert await site.reconciliation.may_poll()
        async with site.worker():
            assert (await site.reconcile())["repeated"] == 3
            assert (await site.until(early, RunState.FINISHED)).output == {"of": "s1"}
            await site.until(stopped, RunState.CANCELLED)
            await finish_both(site, told, doubtful)
            assert (await site.reconcile())["repeated"] == 0
        assert site.applied() == [1]


async def by_hand(site: Site, run_id: str) -> None:
    """Complete the wait with a signal that only Temporal has."""
    await (await site.handle(run_id)).signal("paid", {"of": "the desk"})


async def test_a_signal_that_only_temporal_had_is_not_taken_for_a_timeout(
    site: Site, temporal: OwnTemporal
) -> None:
    nodes = {
        "wait": wait("thanks", 12, expired="reminder"),
        "thanks": call(SEND, "second"),
        "reminder": call(SEND, "late"),
        "second": wait("done"),
        "late": finish("late"),
        **DONE,
    }
    async with gone_back(site, temporal, nodes, by_hand) as (site, run_id):
        await until_lost(site, run_id)
        await site.ledger.signals.begin(run_id, SignalWish("paid", "desk", "s1", {"of": "s1"}))
        async with asyncio.timeout(40):
            while "signal-lost" in await resolutions(site, run_id):
                await asyncio.sleep(0.2)
        # The execution may still be on its way to the second wait.
        await finish_both(site, run_id)
    assert site.applied() == [1]


async def test_a_mark_that_was_confirmed_and_is_gone_tells_of_an_older_temporal(
    temporal: OwnTemporal,
) -> None:
    async with temporal.now() as site:
        await site.reconcile()
        temporal.keep()
        await site.reconcile()
    async with temporal.older() as site:
        assert not await site.reconciliation.may_poll()
        assert (await site.ledger.holds.standing()).hold_code == "temporal-behind"


async def test_a_signal_that_the_machine_has_forgotten_is_told_again_and_taken_once(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["interpreter.machine.turn"], "MOST_SEEN_SIGNALS", 1)
    nodes = {"first": wait("second"), "second": wait("third"), "third": wait("done")}
    async with site.worker():
        run_id = await site.start({**nodes, "done": finish("done", {"step": "third"})})
        await site.until(run_id, RunState.WAITING)
        await site.signalled(run_id, "s1", "completed", "kept")
        await site.signalled(run_id, "s2", "completed", "kept")
        # After that Temporal too has forgotten which updates were taken.
        handle = await site.handle(run_id)
        before = (await handle.describe()).run_id
        await handle.signal(names.HAND_OVER_SIGNAL)
        async with asyncio.timeout(20):
            while (await handle.describe()).run_id == before:
                await asyncio.sleep(0.1)
        repeated = 0
        async with asyncio.timeout(20):
            # The new execution takes none before its first task.
            while repeated < 2:
                repeated += (await site.reconcile())["repeated"]
        assert (await site.status(run_id)).state is RunState.WAITING
        await site.signalled(run_id, "s3")
        assert (await site.until(run_id, RunState.FINISHED)).output == {"of": "s3"}
