"""A restored ledger whose executions have gone on past a call that it still holds open."""

from __future__ import annotations

import asyncio

import pytest

from adapter.ledger import ActKind, Wish
from adapter.ledger.holds import HoldCode
from adapter.temporal.versions import nudge
from interpreter.contract.records import RunState
from tests.fixtures.definitions import finish
from tests.fixtures.postgres import as_owner
from tests.recovery.conftest import SEND, Site, call
from tests.recovery.going_back import pause, wait
from tests.recovery.restoring import Backup, backup, elsewhere, released, unheld

__all__ = ["backup"]

ASKED = {"send": call(SEND, "pay"), "pay": wait("done"), "done": finish()}


async def test_a_cancel_does_not_call_unsent_what_its_execution_has_passed(
    site: Site, backup: Backup
) -> None:
    site.pretend.fault(SEND, "rate-limited", retryAfter=3)
    async with site.worker():
        run_id = await site.start(ASKED)
        async with asyncio.timeout(20):
            while not site.pretend.requests(SEND):
                await asyncio.sleep(0.05)
        restore = await backup()
        await site.until(run_id, RunState.WAITING)
    assert site.applied() == [1]
    site = site.beside(await restore())
    async with site.worker():
        await released(site.ledger)
        assert (await site.act(run_id, ActKind.CANCEL, seconds=15)).outcome == "attention"
        [effect] = (await site.inspect(run_id)).effects
        assert (effect.uncertain, effect.code) == (True, "older-than-restore")
        assert (await site.act(run_id, ActKind.RECONCILE, seconds=20)).outcome == "confirmed"
        await site.until(run_id, RunState.CANCELLED_AFTER_EFFECT)
        await site.ended(run_id)
    assert (site.applied(), len(site.pretend.requests(SEND))) == ([1], 2)


async def test_a_cancel_does_not_call_unchanged_what_the_ledger_has_lost(
    site: Site, backup: Backup
) -> None:
    async with site.worker():
        run_id = await site.start({"pause": pause("send", 4), **ASKED})
        await site.until(run_id, RunState.WAITING)
        restore = await backup()
        await site.sent(1)
        async with asyncio.timeout(20):
            while (await site.inspect(run_id)).waits[-1].reference != "main/pay:1":
                await asyncio.sleep(0.1)
    site = site.beside(await restore())
    async with site.worker():
        await released(site.ledger)
        await site.act(run_id, ActKind.CANCEL, seconds=15)
        await site.until(run_id, RunState.CANCELLED_AFTER_EFFECT)
        await site.ended(run_id)
    assert (site.applied(), len(site.pretend.requests(SEND))) == ([1], 1)


async def settled_since(site: Site, backup: Backup) -> tuple[Site, str]:
    """A run that goes on, whose restored ledger still holds its effect to be unknown."""
    site.pretend.fault(SEND, "lost-response")
    async with site.worker():
        run_id = await site.start(ASKED)
        await site.until(run_id, RunState.ATTENTION)
        restore = await backup()
        assert (await site.act(run_id, ActKind.RETRY_SAME)).outcome == "accepted"
        await site.until(run_id, RunState.WAITING)
    site = site.beside(await restore())
    return site, run_id


@pytest.mark.parametrize(
    ("kind", "outcome", "asked"),
    [(ActKind.RETRY_SAME, "accepted", 3), (ActKind.RECONCILE, "confirmed", 2)],
)
async def test_what_was_settled_since_the_backup_is_settled_again_by_a_person(
    site: Site, backup: Backup, kind: ActKind, outcome: str, asked: int
) -> None:
    site, run_id = await settled_since(site, backup)
    async with site.worker():
        await released(site.ledger, leave_unknown=True)
        assert (await site.act(run_id, kind, "r2")).outcome == outcome
        await site.signalled(run_id, "s1")
        await site.until(run_id, RunState.FINISHED)
        await site.ended(run_id)
        steps = (await site.inspect(run_id)).steps
    assert (site.applied(), len(site.pretend.requests(SEND))) == ([1], asked)
    assert {(step.node, step.state) for step in steps} == {
        ("send", "succeeded"),
        ("pay", "succeeded"),
        ("done", "succeeded"),
    }


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [(ActKind.RETRY_SAME, "accepted"), (ActKind.RECONCILE, "confirmed")],
)
async def test_a_ledger_that_lost_a_generation_settles_what_is_still_unknown(
    site: Site, backup: Backup, kind: ActKind, outcome: str
) -> None:
    for _ in range(2):
        site.pretend.fault(SEND, "lost-response")
    async with site.worker():
        run_id = await site.start(ASKED)
        await site.until(run_id, RunState.ATTENTION)
        restore = await backup()
        assert (await site.act(run_id, ActKind.RETRY_SAME)).outcome == "unknown"
    site = site.beside(await restore())
    async with site.worker():
        await released(site.ledger, leave_unknown=True)
        assert (await site.act(run_id, kind, "r2", seconds=20)).outcome == outcome
        await site.signalled(run_id, "s1")
        await site.until(run_id, RunState.FINISHED)
        await site.ended(run_id)
    assert site.applied() == [1]


async def test_a_command_that_is_sent_again_beside_its_run_moves_with_it(
    site: Site, backup: Backup, database_url: str
) -> None:
    site, run_id = await settled_since(site, backup)
    async with site.worker():
        await released(site.ledger, leave_unknown=True)
        wish = Wish(ActKind.RETRY_SAME, "ops", "for good reason", "r2")
        begun = await site.ledger.acts.begin(run_id, wish)
        await site.ledger.holds.place(HoldCode.LEDGER_BEHIND)
        await site.courier.carry_out(begun, 2)
        handle = await site.handle(run_id)
        first = (await handle.describe()).run_id
        await nudge(site.client, handle.id)
        async with asyncio.timeout(10):
            while (await handle.describe()).run_id == first:
                await asyncio.sleep(0.1)
        await unheld(as_owner(elsewhere(database_url)))
        assert (await site.courier.carry_out(begun, 40)).outcome == "accepted"
        await site.signalled(run_id, "s1")
        await site.until(run_id, RunState.FINISHED)
        await site.ended(run_id)
    assert site.applied() == [1]
