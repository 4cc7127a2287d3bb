"""Restored databases and restored Temporals: found, held, reviewed, and nothing is sent again."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from temporalio.client import Client

from adapter import api
from adapter.crypto import Sealer, SealError
from adapter.embedded import FAST_TIMERS, OWNER_ROLE, EmbeddedTemporal, postgres_programs
from adapter.errors import Refused
from adapter.ledger import ActKind, Ledger, SignalWish, Wish
from adapter.ledger.holds import Attested
from adapter.reconcile.diagnosis import Norms
from adapter.reconcile.marks import Marks
from adapter.reconcile.recovery import recover
from adapter.reconcile.signals import SignalCourier
from adapter.temporal.client import TemporalAddress, connect
from adapter.wiring.oversight import DeploymentOversight
from adapter.wiring.sealing import codec_of
from adapter.worker import prefetch_from
from interpreter.contract import names
from interpreter.contract.records import RunState
from tests.fixtures.definitions import finish
from tests.fixtures.postgres import as_owner
from tests.recovery.conftest import SEND, FixedTemporal, Site, call

VOUCHED = Attested("ticket-1", True, True)
Restore = Callable[[], Awaitable[Ledger]]

BETWEEN = {
    "send": call(SEND, "pause"),
    "pause": {
        "kind": "wait",
        "wait": {"type": "duration", "seconds": 2},
        "outlets": {"elapsed": "more"},
    },
    "more": call(SEND, "done"),
    "done": finish(),
}


@pytest.fixture
async def backup(
    site: Site, database_url: str, admin_url: str, tmp_path: Path
) -> AsyncIterator[Callable[[], Awaitable[Restore]]]:
    """Dumps the ledger as it is now with `pg_dump`; what it gives restores that elsewhere."""
    restored = elsewhere(database_url)
    database = restored.rpartition("/")[2]
    opened: list[Ledger] = []

    async def dump() -> Restore:
        file = tmp_path / "ledger.dump"
        await _program("pg_dump", "-Fc", "-f", str(file), "-d", as_owner(database_url))

        async def restore() -> Ledger:
            create = f'create database "{database}" owner {OWNER_ROLE}'
            await _program("psql", "-qX", "-d", admin_url, "-c", create)
            await _program("pg_restore", "-d", as_owner(restored), str(file))
            keys = site.key_ring
            ledger = await Ledger.open(restored, Sealer(keys, "test"), keys, pool_size=4)
            opened.append(ledger)
            return ledger

        return restore

    yield dump
    for ledger in opened:
        await ledger.close()
    await _program("psql", "-qX", "-d", admin_url, "-c", f'drop database if exists "{database}"')


async def _program(name: str, *arguments: str) -> None:
    process = await asyncio.create_subprocess_exec(postgres_programs() / name, *arguments)
    assert await process.wait() == 0


async def released(ledger: Ledger, *, leave_unknown: bool = False) -> None:
    """Go through the whole review, as an operator does."""
    await ledger.holds.begin_review("ops", "restored the backup of the night")
    await ledger.reviews.complete("ops", VOUCHED)
    await ledger.holds.release_restore("ops", "reviewed", leave_unknown=leave_unknown)
    await ledger.holds.release_admission("ops", VOUCHED)


async def test_no_prepared_command_is_resent_from_an_older_dump(
    site: Site, backup: Callable[[], Awaitable[Restore]]
) -> None:
    run_id = await site.start(call_once())
    restore = await backup()
    site.pretend.fault(SEND, "slow", apply=True, seconds=2)
    async with site.worker():
        await sent(site, 1)
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
    site: Site, backup: Callable[[], Awaitable[Restore]], database_url: str
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
    site: Site, backup: Callable[[], Awaitable[Restore]], database_url: str
) -> None:
    site.pretend.fault(SEND, "slow", apply=True, seconds=1)
    run_id = await site.start(call_once())
    restore = await backup()
    async with site.worker(), unwritable(database_url, run_id, after=lambda: sent(site, 1)):
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
    site: Site, backup: Callable[[], Awaitable[Restore]], database_url: str
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


async def test_a_worker_waits_in_recovery_until_the_hold_is_released(site: Site) -> None:
    await site.ledger.holds.begin_review("ops", "test")
    stop = asyncio.Event()
    waiting = asyncio.create_task(recover(site.reconciliation, stop, every=0.1))
    await asyncio.sleep(0.5)
    assert not waiting.done()
    await site.ledger.reviews.complete("ops", VOUCHED)
    await site.ledger.holds.release_restore("ops", "reviewed")
    await asyncio.wait_for(waiting, 5)


async def test_a_ledger_for_recovery_only_dispatches_nothing(site: Site, database_url: str) -> None:
    run_id = await site.start(call_once())
    opening = Ledger.open(
        database_url, Sealer(site.key_ring, "test"), site.key_ring, recovery_only=True
    )
    async with await opening as ledger, site.beside(ledger).worker():
        await asyncio.sleep(1)
        assert site.pretend.requests(SEND) == []
    assert (await site.status(run_id)).state is RunState.RUNNING


async def test_in_recovery_receipts_are_read_though_no_run_is_served(
    site: Site, database_url: str
) -> None:
    site.pretend.fault(SEND, "lost-response")
    async with site.worker():
        run_id = await site.start(call_once())
        await site.until(run_id, RunState.ATTENTION)
    await site.ledger.holds.begin_review("ops", "test")
    wish = Wish(ActKind.RECONCILE, "ops", "settle it", "r1")
    await site.ledger.acts.begin(run_id, wish)
    await site.sql("update coordinator.acts set due_at = clock_timestamp()")
    opening = Ledger.open(
        database_url, Sealer(site.key_ring, "test"), site.key_ring, recovery_only=True
    )
    stop = asyncio.Event()
    async with await opening as ledger:
        reconciliation = site.beside(ledger).reconciliation
        working = asyncio.create_task(recover(reconciliation, stop, every=0.1))
        async with asyncio.timeout(20):
            while (await site.status(run_id)).uncertain:
                await asyncio.sleep(0.1)
        stop.set()
        await working
    assert (await site.ledger.reviews.complete("ops", VOUCHED)).cleared == 1
    assert len(site.pretend.requests(SEND)) == 1


async def test_an_older_temporal_is_held_and_its_runs_are_flagged(
    site: Site, tmp_path: Path
) -> None:
    files = tmp_path / "temporal"
    server = own_temporal(files / "now.db")
    async with server:
        site = site.beside(client=await connected(site, server))
        assert await site.reconciliation.may_poll()
        kept = await site.start(call_once())
        await asyncio.sleep(1)
    shutil.copytree(files, tmp_path / "older")
    async with own_temporal(files / "now.db") as server:
        site = site.beside(client=await connected(site, server))
        lost = await site.start(BETWEEN)
        async with site.worker():
            await site.until(kept, RunState.FINISHED)
            await site.until(lost, RunState.WAITING)
        await site.reconcile()
        site.started.clear()
    async with own_temporal(tmp_path / "older" / "now.db") as server:
        site = site.beside(client=await connected(site, server))
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


async def test_what_an_older_temporal_has_lost_is_told_again(site: Site, tmp_path: Path) -> None:
    files = tmp_path / "temporal"
    site.pretend.fault(SEND, "lost-response")
    async with own_temporal(files / "now.db") as server:
        site = site.beside(client=await connected(site, server))
        assert await site.reconciliation.may_poll()
        async with site.worker():
            told = await site.start({"first": paid("second"), "second": paid("done"), **DONE})
            doubtful = await site.start(
                {"send": call(SEND, "second"), "second": paid("done"), **DONE}
            )
            await site.until(told, RunState.WAITING)
            await site.until(doubtful, RunState.ATTENTION)
    shutil.copytree(files, tmp_path / "older")
    async with own_temporal(files / "now.db") as server:
        site = site.beside(client=await connected(site, server))
        async with site.worker():
            await signalled(site, told, "s1")
            assert (await site.act(doubtful, ActKind.RECONCILE)).outcome == "confirmed"
            await site.until(doubtful, RunState.WAITING)
            await site.reconcile()
            await site.reconcile()
            site.started.clear()
    async with own_temporal(tmp_path / "older" / "now.db") as server:
        site = site.beside(client=await connected(site, server))
        assert not await site.reconciliation.may_poll()
        await released(site.ledger)
        async with site.worker():
            assert (await site.reconcile())["repeated"] == 2
            assert (await site.reconcile())["repeated"] == 0
            for run_id in (told, doubtful):
                await signalled(site, run_id, "s2", "completed", "kept")
                assert (await site.until(run_id, RunState.FINISHED)).output == {"of": "s2"}
    assert site.applied() == [1]


async def test_what_temporal_loses_between_two_marks_is_told_again(
    site: Site, tmp_path: Path
) -> None:
    files = tmp_path / "temporal"
    site.pretend.fault(SEND, "lost-response")
    nodes = {"pause": PAUSE, "second": paid("done"), **DONE}
    async with own_temporal(files / "now.db") as server:
        site = site.beside(client=await connected(site, server))
        async with site.worker():
            early = await site.start(nodes)
            told = await site.start({"first": paid("second"), "second": paid("done"), **DONE})
            doubtful = await site.start(
                {"send": call(SEND, "second"), "second": paid("done"), **DONE}
            )
            stopped = await site.start({"second": paid("done"), **DONE})
            for run_id in (early, told, stopped):
                await site.until(run_id, RunState.WAITING)
            await site.until(doubtful, RunState.ATTENTION)
            await site.reconcile()
    shutil.copytree(files, tmp_path / "older")
    async with own_temporal(files / "now.db") as server:
        site = site.beside(client=await connected(site, server))
        async with site.worker():
            await signalled(site, early, "s1", "kept")
            await signalled(site, told, "s1")
            assert (await site.act(doubtful, ActKind.RECONCILE)).outcome == "confirmed"
            await site.until(doubtful, RunState.WAITING)
        # The cancel is on record, and its execution has not answered yet.
        await site.ledger.runs.request_cancel(stopped, "no more")
        await (await site.handle(stopped)).cancel()
        site.started.clear()
    async with own_temporal(tmp_path / "older" / "now.db") as server:
        site = site.beside(client=await connected(site, server))
        assert await site.reconciliation.may_poll()
        async with site.worker():
            assert (await site.reconcile())["repeated"] == 3
            assert (await site.until(early, RunState.FINISHED)).output == {"of": "s1"}
            await site.until(stopped, RunState.CANCELLED)
            for run_id in (told, doubtful):
                await signalled(site, run_id, "s2", "completed", "kept")
                assert (await site.until(run_id, RunState.FINISHED)).output == {"of": "s2"}
            assert (await site.reconcile())["repeated"] == 0
    assert site.applied() == [1]


async def test_a_signal_that_the_machine_has_forgotten_is_told_again_and_taken_once(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["interpreter.machine.turn"], "MOST_SEEN_SIGNALS", 1)
    nodes = {"first": paid("second"), "second": paid("third"), "third": paid("done")}
    async with site.worker():
        run_id = await site.start({**nodes, "done": finish("done", {"step": "third"})})
        await site.until(run_id, RunState.WAITING)
        await signalled(site, run_id, "s1", "completed", "kept")
        await signalled(site, run_id, "s2", "completed", "kept")
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
        await signalled(site, run_id, "s3")
        assert (await site.until(run_id, RunState.FINISHED)).output == {"of": "s3"}


async def test_a_signal_that_only_temporal_had_is_not_taken_for_a_timeout(
    site: Site, tmp_path: Path
) -> None:
    files = tmp_path / "temporal"
    source = {"type": "signal", "signal": "paid", "schema": True, "timeoutSeconds": 20}
    outlets = {"resumed": "thanks", "expired": "reminder"}
    nodes = {
        "wait": {"kind": "wait", "wait": source, "outlets": outlets},
        "thanks": call(SEND, "second"),
        "reminder": call(SEND, "late"),
        "second": paid("done"),
        "late": finish("late"),
        **DONE,
    }
    async with own_temporal(files / "now.db") as server:
        site = site.beside(client=await connected(site, server))
        async with site.worker():
            run_id = await site.start(nodes)
            await site.until(run_id, RunState.WAITING)
            await site.reconcile()
    shutil.copytree(files, tmp_path / "older")
    async with own_temporal(files / "now.db") as server:
        site = site.beside(client=await connected(site, server))
        async with site.worker():
            await (await site.handle(run_id)).signal("paid", {"of": "the desk"})
            await sent(site, 1)
            await site.until(run_id, RunState.WAITING)
        site.started.clear()
    async with own_temporal(tmp_path / "older" / "now.db") as server:
        site = site.beside(client=await connected(site, server))
        assert await site.reconciliation.may_poll()
        async with site.worker():
            async with asyncio.timeout(40):
                while "signal-lost" not in await resolutions(site, run_id):
                    await asyncio.sleep(0.2)
            await site.ledger.signals.begin(run_id, SignalWish("paid", "desk", "s1", {"of": "s1"}))
            async with asyncio.timeout(40):
                while "signal-lost" in await resolutions(site, run_id):
                    await asyncio.sleep(0.2)
            # The execution may still be on its way to the second wait.
            await signalled(site, run_id, "s2", "completed", "kept")
            assert (await site.until(run_id, RunState.FINISHED)).output == {"of": "s2"}
    assert site.applied() == [1]


async def test_a_mark_that_was_confirmed_and_is_gone_tells_of_an_older_temporal(
    site: Site, tmp_path: Path
) -> None:
    files = tmp_path / "temporal"
    async with own_temporal(files / "now.db") as server:
        site = site.beside(client=await connected(site, server))
        await site.reconcile()
    shutil.copytree(files, tmp_path / "older")
    async with own_temporal(files / "now.db") as server:
        await site.beside(client=await connected(site, server)).reconcile()
    async with own_temporal(tmp_path / "older" / "now.db") as server:
        site = site.beside(client=await connected(site, server))
        assert not await site.reconciliation.may_poll()
        assert (await site.ledger.holds.standing()).hold_code == "temporal-behind"


async def test_a_release_waits_for_the_review_and_for_every_doubt(site: Site) -> None:
    site.pretend.fault(SEND, "lost-response")
    async with site.worker():
        run_id = await site.start(call_once())
        await site.until(run_id, RunState.ATTENTION)
        holds = site.ledger.holds
        assert await code(holds.release_restore("ops", "r")) == "recovery.hold-required"
        await holds.begin_review("ops", "r")
        assert await code(holds.release_admission("ops", VOUCHED)) == "recovery.hold-active"
        half = Attested("ticket-1", True, False)
        assert await code(site.ledger.reviews.complete("ops", half)) == "recovery.not-attested"
        done = await site.ledger.reviews.complete("ops", VOUCHED)
        assert (done.cleared, done.remaining) == (0, 1)
        assert await code(holds.release_restore("ops", "r")) == "recovery.unresolved"
        assert (await site.act(run_id, ActKind.RECONCILE)).outcome == "confirmed"
        await site.ledger.reviews.complete("ops", VOUCHED)
        assert not (await holds.release_restore("ops", "r")).restore_hold
    rows = await site.sql("select kind from coordinator.journal where chain = 'deployment'")
    kinds = [kind for (kind,) in rows]
    assert kinds.count("release-restore-hold.asked") == 3
    assert kinds.count("release-restore-hold.refused") == 2


async def answered(site: Site, run_id: str, activity: str) -> None:
    """Wait until the run's execution has the answer of an activity."""
    handle = await site.handle(run_id)
    async with asyncio.timeout(30):
        while True:
            events = (await handle.fetch_history()).events
            asked = (one.activity_task_scheduled_event_attributes.activity_id for one in events)
            numbers = {
                one.event_id for one, id in zip(events, asked, strict=True) if id == activity
            }
            done = (one.activity_task_completed_event_attributes for one in events)
            if any(one.scheduled_event_id in numbers for one in done):
                return
            await asyncio.sleep(0.1)


async def test_a_retry_that_was_asked_for_before_the_restore_is_not_made_after_it(
    site: Site,
) -> None:
    site.pretend.fault(SEND, "lost-response")
    async with site.worker():
        run_id = await site.start(call_once())
        await answered(site, run_id, "main/send:1:1")
    wish = Wish(ActKind.RETRY_SAME, "ops", "the line is back", "r1")
    asked = await site.ledger.acts.begin(run_id, wish)
    async with site.worker():
        await released(site.ledger, leave_unknown=True)
        asked = await site.courier.deliver(asked)
        assert (asked.outcome, asked.code) == ("unknown", "unsettled-at-restore")
        await answered(site, run_id, "main/send:1:2")
        await site.until(run_id, RunState.ATTENTION)
        assert len(site.pretend.requests(SEND)) == 1
        assert (await site.act(run_id, ActKind.RECONCILE)).outcome == "confirmed"
        await site.until(run_id, RunState.FINISHED)
    assert (site.applied(), len(site.pretend.requests(SEND))) == ([1], 1)


async def test_an_unknown_effect_may_be_left_to_people(site: Site) -> None:
    site.pretend.fault(SEND, "lost-response")
    async with site.worker():
        run_id = await site.start(call_once())
        await site.until(run_id, RunState.ATTENTION)
        await released(site.ledger, leave_unknown=True)
        assert (await site.act(run_id, ActKind.RETRY_SAME)).outcome == "accepted"
    assert site.applied() == [1]


async def test_an_execution_of_an_admission_that_a_restore_took_is_not_believed(
    site: Site, backup: Callable[[], Awaitable[Restore]], database_url: str
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


async def test_what_retention_erased_is_erased_again(
    site: Site, backup: Callable[[], Awaitable[Restore]]
) -> None:
    run_id = await site.start(call_once())
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


def elsewhere(database_url: str) -> str:
    """Where the backup is restored to."""
    return f"{database_url}_restored"


def paid(then: str) -> dict[str, object]:
    """A wait for the signal `paid`."""
    source = {"type": "signal", "signal": "paid", "schema": True, "timeoutSeconds": 600}
    return {"kind": "wait", "wait": source, "outlets": {"resumed": then}}


DONE = {"done": finish("done", {"step": "second"})}
PAUSE = {
    "kind": "wait",
    "wait": {"type": "duration", "seconds": 12},
    "outlets": {"elapsed": "second"},
}


async def signalled(site: Site, run_id: str, key: str, *outcomes: str) -> None:
    """Send the signal `paid`, and see it taken."""
    wish = SignalWish("paid", "desk", key, {"of": key})
    begun = await site.ledger.signals.begin(run_id, wish)
    courier = SignalCourier(site.ledger, FixedTemporal(site.client))
    assert (await courier.carry_out(begun, 20)).outcome in (outcomes or ("completed",))


async def resolutions(site: Site, run_id: str) -> list[str]:
    """How the run's waits have ended."""
    rows = await site.sql("select resolution from coordinator.waits where run_id = %s", run_id)
    return [resolution for (resolution,) in rows]


def call_once() -> dict[str, object]:
    """A run of one message."""
    return {"send": call(SEND, "done"), "done": finish()}


async def code(work: Awaitable[object]) -> str:
    """The code by which something is refused."""
    with pytest.raises(Refused) as refused:
        await work
    return refused.value.code


async def sent(site: Site, count: int) -> None:
    """Wait until a message was asked for so often."""
    async with asyncio.timeout(20):
        while len(site.pretend.effects(SEND)) < count:
            await asyncio.sleep(0.05)


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


async def unheld(url: str) -> None:
    """Take this database for the ledger's own and lift its holds, as if it had never moved."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("update coordinator.watermark set place = null")
        await connection.execute(
            "update coordinator.control set restore_hold = false, admissions_hold = false"
        )


def own_temporal(file: Path) -> EmbeddedTemporal:
    """A Temporal of this test alone, over a file."""
    return EmbeddedTemporal(
        file, log_file=file.with_suffix(".log"), ui=False, dynamic_config=FAST_TIMERS
    )


async def connected(site: Site, server: EmbeddedTemporal) -> Client:
    """A client of that server."""
    return await connect(
        TemporalAddress(server.address),
        codec_of(site.ledger, prefetch_from(site.ledger.definitions)),
    )


async def test_a_cancel_tells_a_restored_ledger_of_an_unknown_effect_that_it_has_lost(
    site: Site, backup: Callable[[], Awaitable[Restore]]
) -> None:
    wait = {**PAUSE, "wait": {"type": "duration", "seconds": 4}, "outlets": {"elapsed": "send"}}
    async with site.worker():
        run_id = await site.start({"pause": wait, "send": call(SEND, "done"), "done": finish()})
        await site.until(run_id, RunState.WAITING)
        restore = await backup()
        site.pretend.fault(SEND, "lost-response")
        await site.until(run_id, RunState.ATTENTION)
    site = site.beside(await restore())
    async with site.worker():
        await released(site.ledger)
        act = await site.act(run_id, ActKind.CANCEL, seconds=15)
        assert act.outcome == "attention"
        [effect] = (await site.inspect(run_id)).effects
        assert effect.code == "older-than-restore"
        assert (await site.act(run_id, ActKind.RECONCILE, seconds=20)).outcome == "confirmed"
        await site.until(run_id, RunState.CANCELLED_AFTER_EFFECT)
        await site.ended(run_id)
    assert (site.applied(), len(site.pretend.requests(SEND))) == ([1], 1)


async def test_after_a_release_executions_tell_of_unknown_effects_that_the_ledger_has_lost(
    site: Site, backup: Callable[[], Awaitable[Restore]]
) -> None:
    wait = {**PAUSE, "wait": {"type": "duration", "seconds": 4}, "outlets": {"elapsed": "send"}}
    async with site.worker():
        run_id = await site.start({"pause": wait, "send": call(SEND, "done"), "done": finish()})
        await site.until(run_id, RunState.WAITING)
        restore = await backup()
        site.pretend.fault(SEND, "lost-response")
        await site.until(run_id, RunState.ATTENTION)
    site = site.beside(await restore())
    async with site.worker():
        assert "nudged" not in await site.reconcile()
        await released(site.ledger)
        assert (await site.reconcile())["nudged"] == 1
        await site.until(run_id, RunState.ATTENTION)
        [effect] = (await site.inspect(run_id)).effects
        assert effect.code == "older-than-restore"
        assert (await site.reconcile())["nudged"] == 0
        assert (await site.act(run_id, ActKind.RECONCILE, seconds=20)).outcome == "confirmed"
        await site.until(run_id, RunState.FINISHED)
    assert (site.applied(), len(site.pretend.requests(SEND))) == ([1], 1)
