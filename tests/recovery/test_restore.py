"""An older ledger: found, held, reviewed, and nothing is sent again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from adapter import api
from adapter.crypto import SealError
from adapter.ledger import ActKind
from adapter.reconcile.diagnosis import Norms
from adapter.reconcile.marks import Marks
from adapter.wiring.oversight import DeploymentOversight
from interpreter.contract.records import RunState
from tests.fixtures.definitions import finish
from tests.fixtures.postgres import as_owner
from tests.recovery.conftest import ONE_MESSAGE, SEND, FixedTemporal, Site, call
from tests.recovery.going_back import pause
from tests.recovery.restoring import VOUCHED, Backup, backup, elsewhere, released, unheld

__all__ = ["backup"]

BETWEEN = {
    "send": call(SEND, "pause"),
    "pause": pause("more", 2),
    "more": call(SEND, "done"),
    "done": finish(),
}


async def test_no_prepared_command_is_resent_from_an_older_dump(site: Site, backup: Backup) -> None:
    run_id = await site.start(ONE_MESSAGE)
    restore = await backup()
    site.pretend.fault(SEND, "slow", apply=True, seconds=2)
    async with site.worker():
        await site.sent(1)
        # The process loses its ledger after the send and before the answer.
        await site.ledger.close()
        await asyncio.sleep(2.5)
    site = site.beside(await restore())
    assert (await site.ledger.holds.standing()).hold_code == "ledger-moved"
    async with site.worker():
        await asyncio.sleep(2)
        assert site.applied() == [1]
        await released(site.ledger)
        await site.until(run_id, RunState.ATTENTION)
        [effect] = (await site.inspect(run_id)).effects
        assert effect.code == "older-than-restore"
        assert len(site.pretend.requests(SEND)) == 1
        assert (await site.act(run_id, ActKind.RECONCILE)).outcome == "confirmed"
        await site.until(run_id, RunState.FINISHED)
    assert (site.applied(), len(site.keys())) == ([1], 1)


async def test_a_workflow_that_has_seen_more_than_the_ledger_holds_it(
    site: Site, backup: Backup, database_url: str
) -> None:
    run_id = await site.start(BETWEEN)
    restore = await backup()
    async with site.worker():
        await site.until(run_id, RunState.WAITING)
    ledger = await restore()
    site = site.beside(ledger)
    # As a copied disk is: nothing of the database itself tells that it is older.
    await unheld(elsewhere(database_url))
    async with site.worker(), asyncio.timeout(20):
        while not (await ledger.holds.standing()).restore_hold:
            await asyncio.sleep(0.1)
        assert (await ledger.holds.standing()).hold_code == "ledger-behind"
        assert len(site.pretend.requests(SEND)) == 1


async def test_a_ledger_that_lost_the_first_send_of_a_run_is_held_by_its_next_attempt(
    site: Site, backup: Backup, database_url: str
) -> None:
    site.pretend.fault(SEND, "slow", apply=True, seconds=1)
    run_id = await site.start(ONE_MESSAGE)
    restore = await backup()
    async with site.worker(), unwritable(database_url, run_id, after=lambda: site.sent(1)):
        # The answer can not be written, and a heartbeat says what was permitted.
        await asyncio.sleep(4)
        await site.ledger.close()
    ledger = await restore()
    site = site.beside(ledger)
    await unheld(elsewhere(database_url))
    async with site.worker(), asyncio.timeout(20):
        while not (await ledger.holds.standing()).restore_hold:
            await asyncio.sleep(0.1)
    assert (await ledger.holds.standing()).hold_code == "ledger-behind"
    assert len(site.pretend.requests(SEND)) == 1


async def test_a_ledger_behind_temporals_mark_is_held_before_a_worker_polls(
    site: Site, backup: Backup, database_url: str
) -> None:
    assert await site.reconciliation.may_poll()
    restore = await backup()
    await site.reconcile()
    await site.reconcile()
    site = site.beside(await restore())
    await unheld(elsewhere(database_url))
    assert not await site.reconciliation.may_poll()
    assert (await site.ledger.holds.standing()).hold_code == "ledger-behind"
    await released(site.ledger)
    assert await site.reconciliation.may_poll()
    assert (await site.reconcile())["marks"] == "agree"


async def test_an_execution_of_an_admission_that_a_restore_took_is_not_believed(
    site: Site, backup: Backup, database_url: str
) -> None:
    restore = await backup()
    run_id = await site.admit(BETWEEN, number=1_000)
    await site.starter.start(run_id)
    site.started.append(run_id)
    async with site.worker():
        await site.until(run_id, RunState.WAITING)
    site = site.beside(await restore())
    await released(site.ledger)
    assert await site.admit(BETWEEN, number=1_000) == run_id
    await site.starter.start(run_id)
    async with site.worker():
        await asyncio.sleep(1)
        await an_hour_later(elsewhere(database_url))
        for _ in range(2):
            await site.reconcile()
            assert (await site.status(run_id)).state is RunState.RECOVERY_REQUIRED
    assert len(site.pretend.requests(SEND)) == 1
    await (await site.handle(run_id)).terminate()
    await site.ledger.holds.begin_review("ops", "the admission was lost")
    assert (await site.ledger.reviews.complete("ops", VOUCHED)).ended == 1


async def test_what_retention_erased_is_erased_again(site: Site, backup: Backup) -> None:
    run_id = await site.start(ONE_MESSAGE)
    async with site.worker():
        await site.until(run_id, RunState.FINISHED)
    restore = await backup()
    assert await site.ledger.retention.retain("ops", datetime.now(UTC), 1) == 1
    await site.reconcile()
    site = site.beside(await restore())
    assert (await site.status(run_id)).erased_at is None
    marks = Marks(site.ledger, site.schedule)
    norms = Norms(timedelta(minutes=1), timedelta(days=1), signs=True)
    oversight = DeploymentOversight(marks, FixedTemporal(site.client), norms, site.queue)
    await oversight.restore_hold("ops", "restored the backup of the night")
    await oversight.complete_recovery("ops", api.Attestation("ticket-1", True, True))
    assert (await site.status(run_id)).erased_at is not None
    with pytest.raises(SealError, match="erased"):
        await site.ledger.run_keys.of(run_id)


async def lost_doubt(site: Site, backup: Backup) -> tuple[Site, str]:
    """A run whose unknown effect its restored ledger has lost."""
    async with site.worker():
        run_id = await site.start(
            {"pause": pause("send", 4), "send": call(SEND, "done"), "done": finish()}
        )
        await site.until(run_id, RunState.WAITING)
        restore = await backup()
        site.pretend.fault(SEND, "lost-response")
        await site.until(run_id, RunState.ATTENTION)
    return site.beside(await restore()), run_id


async def found_again(site: Site, run_id: str, end: RunState) -> None:
    """See that the ledger knows the effect, that its receipt settles it, and how the run ends."""
    await site.until(run_id, RunState.ATTENTION)
    [effect] = (await site.inspect(run_id)).effects
    assert effect.code == "older-than-restore"
    assert (await site.act(run_id, ActKind.RECONCILE, seconds=20)).outcome == "confirmed"
    await site.until(run_id, end)
    await site.ended(run_id)
    assert (site.applied(), len(site.pretend.requests(SEND))) == ([1], 1)


async def test_a_cancel_tells_a_restored_ledger_of_an_unknown_effect_that_it_has_lost(
    site: Site, backup: Backup
) -> None:
    site, run_id = await lost_doubt(site, backup)
    async with site.worker():
        await released(site.ledger)
        assert (await site.act(run_id, ActKind.CANCEL, seconds=15)).outcome == "attention"
        await found_again(site, run_id, RunState.CANCELLED_AFTER_EFFECT)


async def test_after_a_release_executions_tell_of_unknown_effects_that_the_ledger_has_lost(
    site: Site, backup: Backup
) -> None:
    site, run_id = await lost_doubt(site, backup)
    async with site.worker():
        assert "nudged" not in await site.reconcile()
        await released(site.ledger)
        assert (await site.reconcile())["nudged"] == 1
        await site.until(run_id, RunState.ATTENTION)
        assert (await site.reconcile())["nudged"] == 0
        await found_again(site, run_id, RunState.FINISHED)


@asynccontextmanager
async def unwritable(
    url: str, run_id: str, *, after: Callable[[], Awaitable[None]]
) -> AsyncIterator[None]:
    """Keep everybody from writing about a run, once something has happened."""
    await after()
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute("select from coordinator.runs where id = %s for update", [run_id])
        yield


async def an_hour_later(url: str) -> None:
    """Let everything that the ledger has opened be of an hour later."""
    async with await psycopg.AsyncConnection.connect(as_owner(url), autocommit=True) as database:
        await database.execute(
            "update coordinator.executions set created_at = created_at + interval '1 hour'"
        )
