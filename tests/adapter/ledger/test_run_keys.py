"""Data keys in the ledger: one for each run, at hand without a question, and forgotten in time."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from activities.errors import ActivityError
from adapter.crypto import KeyRing, SealError
from adapter.ledger import Ledger
from adapter.ledger.pool import Pool
from adapter.ledger.revisions import Revisions
from adapter.ledger.run_keys import FORGET_SECONDS, RunKeys
from tests.adapter.ledger.words import admission

Sql = Callable[..., Awaitable[list[Any]]]


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """The clock of the other process."""
    return Clock()


@pytest.fixture
async def elsewhere(ledger: Ledger, keys: KeyRing, database_url: str, clock: Clock) -> Any:
    """The data keys as another process sees them."""
    pool = Pool(database_url, 1)
    await pool.open()
    yield RunKeys(pool, keys, "test", Revisions(pool), clock)
    await pool.close()


async def test_another_process_seals_for_the_same_run(
    ledger: Ledger, run_id: str, elsewhere: RunKeys
) -> None:
    here, there = await ledger.run_keys.of(run_id), await elsewhere.of(run_id)
    assert there.open(here.seal({"a": 1}, "payload"), "payload") == {"a": 1}
    assert here.digest("payload", b"x") == there.digest("payload", b"x")


async def test_every_run_has_a_key_of_its_own(ledger: Ledger, run_id: str) -> None:
    other = (await ledger.admissions.admit(admission("other"))).run_id
    one, two = await ledger.run_keys.of(run_id), await ledger.run_keys.of(other)
    assert one.digest("payload", b"x") != two.digest("payload", b"x")


async def test_a_repeated_admission_keeps_the_key_on_record(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    before = await sql("select wrapped_key from coordinator.run_keys")
    assert not (await ledger.admissions.admit(admission())).created
    assert await sql("select wrapped_key from coordinator.run_keys") == before


async def test_the_process_that_admits_a_run_asks_for_no_key(ledger: Ledger, sql: Sql) -> None:
    run_id = (await ledger.admissions.admit(admission())).run_id
    await ledger.close()
    (await ledger.run_keys.of(run_id)).seal(1, "payload")


async def test_a_worker_that_has_a_key_asks_for_no_revision(
    ledger: Ledger, run_id: str, keys: KeyRing, database_url: str, sql: Sql
) -> None:
    pool = Pool(database_url, 1)
    await pool.open()
    revisions = Revisions(pool)
    await RunKeys(pool, keys, "test", revisions).of(run_id)
    await pool.close()
    [(admitted,)] = await sql("select revision from coordinator.runs")
    assert await revisions.of(run_id) == admitted


@pytest.mark.parametrize("run_id", ["", "no-uuid", "0b9d5a0e-0000-8000-8000-00000000000f"])
async def test_a_run_that_was_never_admitted_has_none(ledger: Ledger, run_id: str) -> None:
    with pytest.raises(ActivityError) as error:
        await ledger.run_keys.of(run_id)
    assert error.value.code == "run.unknown"


async def test_a_destroyed_key_is_forgotten_in_time(
    run_id: str, elsewhere: RunKeys, clock: Clock, sql: Sql
) -> None:
    await elsewhere.of(run_id)
    await sql("update coordinator.run_keys set wrapped_key = null")
    clock.now = FORGET_SECONDS - 1
    await elsewhere.of(run_id)
    clock.now = FORGET_SECONDS
    with pytest.raises(SealError) as refusal:
        await elsewhere.of(run_id)
    assert refusal.value.code == "seal.erased"


async def test_who_reads_the_row_of_an_erased_run_forgets_at_once(
    run_id: str, elsewhere: RunKeys, sql: Sql
) -> None:
    await elsewhere.of(run_id)
    await sql("update coordinator.run_keys set wrapped_key = null")
    with pytest.raises(SealError, match="erased"):
        elsewhere.sealer(run_id, None).seal(1, "payload")
    with pytest.raises(SealError, match="erased"):
        await elsewhere.of(run_id)


async def test_a_large_payload_is_kept_once(ledger: Ledger, run_id: str, sql: Sql) -> None:
    sealer = await ledger.run_keys.of(run_id)
    digest = sealer.digest("payload", b"large")
    first = sealer.seal_bytes(b"large", "payload", digest)
    await ledger.payloads.put(run_id, digest, first)
    await ledger.payloads.put(run_id, digest, sealer.seal_bytes(b"large", "payload", digest))
    assert await ledger.payloads.get(run_id, digest) == first
    assert await sql("select owner, scope from coordinator.payloads") == [("owner-a", "tenant-a")]


async def test_an_absent_payload_is_one_clear_error(ledger: Ledger, run_id: str) -> None:
    with pytest.raises(ActivityError) as error:
        await ledger.payloads.get(run_id, "0" * 64)
    assert error.value.code == "payload.absent"


async def test_nothing_is_kept_for_a_run_that_is_unknown_or_erased(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    with pytest.raises(ActivityError) as error:
        await ledger.payloads.put(str(uuid.uuid4()), "d", b"sealed")
    assert error.value.code == "run.unknown"
    await sql("update coordinator.run_keys set wrapped_key = null")
    await ledger.payloads.put(run_id, "d", b"sealed")
    assert await sql("select digest from coordinator.payloads") == []
