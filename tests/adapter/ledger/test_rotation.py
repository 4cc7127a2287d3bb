"""Rotation of the sealing key: old versions stay readable until everything is under the new one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from adapter.crypto import KeyRing, Sealer
from adapter.errors import Refused
from adapter.ledger import Ledger
from adapter.ledger.rotation import KeyUse, Rotation
from interpreter.contract.records import Closing, RunState
from tests.adapter.ledger.words import (
    DEFINITION,
    PACKAGE,
    accepted,
    admission,
    answer,
    claim,
    dispatch,
    effect,
)

Sql = Callable[..., Awaitable[list[Any]]]
DONE = Closing(RunState.FINISHED, 9, "done", {"secret": 1})


@pytest.fixture
def both(keys: KeyRing) -> KeyRing:
    """The ring with a second version, which is the active one."""
    fresh = KeyRing.generate().versions[1]
    return KeyRing({**keys.versions, 2: fresh}, 2, keys.admission, keys.admission_active)


@pytest.fixture
def only_new(both: KeyRing) -> KeyRing:
    """The ring once the old version was taken out."""
    return KeyRing({2: both.versions[2]}, 2, both.admission, both.admission_active)


async def admit(ledger: Ledger, *numbers: int) -> list[str]:
    return [(await ledger.admissions.admit(admission(f"k{n}"))).run_id for n in numbers]


def standing(uses: list[KeyUse]) -> dict[int, tuple[int, int]]:
    return {use.version: (use.run_keys, use.definitions) for use in uses}


async def test_runs_go_on_across_a_rotation(
    ledger: Ledger, database_url: str, owner_url: str, both: KeyRing, only_new: KeyRing
) -> None:
    (old,) = await admit(ledger, 1)
    sent = claim(effect(old))
    await dispatch(ledger, sent)
    async with await Ledger.open(database_url, Sealer(both, "test"), both) as during:
        (new,) = await admit(during, 2)
        assert (await during.effects.saved(effect(old))) is not None
        async with Rotation.open(owner_url, both, "test") as rotation:
            assert standing(await rotation.uses()) == {1: (1, 1), 2: (1, 0)}
            done = await rotation.reseal("ops")
            assert (done.run_keys, done.definitions, done.unreadable) == (1, 1, 0)
            assert standing(await rotation.uses()) == {1: (0, 0), 2: (2, 1)}
        await during.effects.settle(answer(sent, accepted()))
        await during.runs.close(old, 1, DONE)
    async with await Ledger.open(database_url, Sealer(only_new, "test"), only_new) as after:
        assert (await after.definitions.get(DEFINITION.revision)).id == DEFINITION.id
        assert (await after.reads.run_status(old, None)).output == {"secret": 1}
        assert (await after.admissions.start_request(new)).input == {"name": "Ada"}


async def test_a_process_that_was_not_restarted_reads_what_was_rewrapped(
    ledger: Ledger, keys: KeyRing, owner_url: str, both: KeyRing, database_url: str
) -> None:
    waiting = KeyRing(both.versions, 1, keys.admission, keys.admission_active)
    (old,) = await admit(ledger, 1)
    async with await Ledger.open(database_url, Sealer(waiting, "test"), waiting) as running:
        await running.run_keys.of(old)
        async with Rotation.open(owner_url, both, "test") as rotation:
            await rotation.reseal("ops")
            await admit(running, 2)
            assert standing(await rotation.uses()) == {1: (1, 0), 2: (1, 1)}
        assert (await running.admissions.start_request(old)).input == {"name": "Ada"}


async def test_runs_are_admitted_and_answered_while_a_rotation_goes_on(
    ledger: Ledger, database_url: str, owner_url: str, both: KeyRing
) -> None:
    await admit(ledger, *range(20))
    async with (
        await Ledger.open(database_url, Sealer(both, "test"), both, pool_size=4) as during,
        Rotation.open(owner_url, both, "test") as rotation,
    ):

        async def work(number: int) -> None:
            (run_id,) = await admit(during, number)
            sent = claim(effect(run_id))
            await dispatch(during, sent)
            await during.effects.settle(answer(sent, accepted()))
            assert (await during.runs.close(run_id, 1, DONE)).output == {"secret": 1}

        resealing = asyncio.create_task(rotation.reseal("ops", batch=1))
        await asyncio.gather(*(work(number) for number in range(10, 30)))
        done = await resealing
        assert (done.run_keys, done.unreadable) == (20, 0)
        assert standing(await rotation.uses()) == {1: (0, 0), 2: (30, 1)}


async def test_a_rotation_that_was_cut_off_is_finished_by_the_next(
    ledger: Ledger, owner_url: str, both: KeyRing, monkeypatch: pytest.MonkeyPatch
) -> None:
    await admit(ledger, *range(7))
    async with Rotation.open(owner_url, both, "test") as rotation:
        whole, batches = Rotation._renew_batch, 0

        async def cut_off(self: Any, *rest: Any) -> Any:
            nonlocal batches
            batches += 1
            if batches == 4:
                raise ConnectionResetError
            return await whole(self, *rest)

        with monkeypatch.context() as patched:
            patched.setattr(Rotation, "_renew_batch", cut_off)
            with pytest.raises(ConnectionResetError):
                await rotation.reseal("ops", batch=2)
        assert standing(await rotation.uses()) == {1: (3, 0), 2: (4, 1)}
        done = await rotation.reseal("ops", batch=2)
        assert (done.run_keys, done.definitions) == (3, 0)
        assert standing(await rotation.uses()) == {1: (0, 0), 2: (7, 1)}


async def test_what_no_key_opens_is_named_and_left_as_it_is(
    ledger: Ledger, owner_url: str, both: KeyRing, sql: Sql
) -> None:
    runs = await admit(ledger, 1, 2)
    broken = "set wrapped_key = set_byte(wrapped_key, 40, 255 - get_byte(wrapped_key, 40))"
    await sql(f"update coordinator.run_keys {broken} where run_id = %s", runs[0])
    async with Rotation.open(owner_url, both, "test") as rotation:
        done = await rotation.reseal("ops", batch=1)
        assert (done.run_keys, done.unreadable, done.named) == (1, 1, (f"run-key {runs[0]}",))
        assert standing(await rotation.uses()) == {1: (1, 0), 2: (1, 1)}


async def test_a_rotation_is_journalled_before_and_after(
    ledger: Ledger, owner_url: str, both: KeyRing, sql: Sql
) -> None:
    await admit(ledger, 1)
    async with Rotation.open(owner_url, both, "test") as rotation:
        await rotation.reseal("ops")
    rows = await sql(
        "select kind, detail from coordinator.journal where kind like 'keys-%%' order by sequence"
    )
    counts = {"runKeys": 1, "definitions": 1, "reasons": 0, "unreadable": 0}
    assert rows == [
        ("keys-reseal.asked", {"version": 2}),
        ("keys-reseal.done", {"version": 2, **counts}),
    ]


async def test_an_erased_run_is_under_no_version(
    ledger: Ledger, owner_url: str, both: KeyRing, sql: Sql
) -> None:
    await admit(ledger, 1)
    await sql("update coordinator.run_keys set wrapped_key = null")
    async with Rotation.open(owner_url, both, "test") as rotation:
        assert standing(await rotation.uses()) == {1: (0, 1), 2: (0, 0)}
        assert (await rotation.reseal("ops")).run_keys == 0


async def test_two_processes_that_begin_with_different_new_keys_do_not_both_begin(
    ledger: Ledger, database_url: str, both: KeyRing, keys: KeyRing
) -> None:
    async with await Ledger.open(database_url, Sealer(both, "test"), both):
        other = KeyRing.generate().versions[1]
        wrong = KeyRing({**keys.versions, 2: other}, 2, keys.admission, keys.admission_active)
        with pytest.raises(Refused) as refusal:
            await Ledger.open(database_url, Sealer(wrong, "test"), wrong)
    assert refusal.value.code == "ledger.other-keys"


async def test_a_database_without_a_ledger_has_nothing_to_rotate(
    empty_database_url: str, keys: KeyRing
) -> None:
    with pytest.raises(Refused) as refusal:
        async with Rotation.open(empty_database_url, keys, "test"):
            pass
    assert refusal.value.code == "ledger.not-migrated"


async def test_a_definition_that_is_applied_again_stays_under_its_version(
    ledger: Ledger, database_url: str, both: KeyRing, sql: Sql
) -> None:
    async with await Ledger.open(database_url, Sealer(both, "test"), both) as later:
        await later.packages.apply(PACKAGE, "deployer")
    assert await sql("select key_version from coordinator.definitions") == [(1,)]


async def test_reasons_come_under_the_new_key_too(
    ledger: Ledger, database_url: str, owner_url: str, both: KeyRing, only_new: KeyRing
) -> None:
    await ledger.holds.begin_review("ops", "restored")
    reference = ledger.keyed.reference("reason", "restored")
    async with Rotation.open(owner_url, both, "test") as rotation:
        uses = {use.version: use.reasons for use in await rotation.uses()}
        assert uses[1] == 1
        assert (await rotation.reseal("ops")).reasons == 1
    async with await Ledger.open(database_url, Sealer(only_new, "test"), only_new) as after:
        assert await after.reasons.texts([reference]) == {reference: "restored"}
