"""Checkpoints: what they seal, that none is skipped, and that every tampering is found."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from adapter.audit.checkpoint import Checkpoint
from adapter.audit.export import Sealed
from adapter.audit.proof import Fault, Proof, Proved
from adapter.audit.records import record_hash
from adapter.crypto import PublicKeys, SigningKeys
from adapter.ledger import Ledger
from adapter.ledger.checkpoints import Checkpoints
from tests.adapter.ledger.words import admission, claim, dispatch, effect

Sql = Callable[..., Awaitable[list[Any]]]
KEYS = SigningKeys({1: bytes(range(32))}, 1, PublicKeys({}))
OTHER = SigningKeys({1: bytes(range(1, 33))}, 1, PublicKeys({}))
TURNED = SigningKeys({2: bytes(range(2, 34))}, 2, KEYS.public)


@pytest.fixture
def sealer(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> Checkpoints:
    """Seals whenever it is asked to."""
    monkeypatch.setattr("adapter.ledger.checkpoints._LEAST_AGE", timedelta(0))
    return ledger.checkpoints(KEYS)


async def proved(
    ledger: Ledger, keys: SigningKeys = KEYS, saved: Checkpoint | None = None
) -> Proved:
    """Prove the whole journal as `audit verify` does."""
    async with ledger.journal.reading() as reading:
        return await reading.prove(Proof("test", keys.public, saved=saved))


async def fault(ledger: Ledger, **how: Any) -> tuple[str, str, int]:
    """The code, chain and number of the first thing that is wrong."""
    with pytest.raises(Fault) as found:
        await proved(ledger, **how)
    return found.value.code, found.value.group, found.value.number


@pytest.fixture
async def sealed(ledger: Ledger, run_id: str, sealer: Checkpoints) -> str:
    """A run with four records, of which three are under two checkpoints."""
    await sealer.seal()
    await dispatch(ledger, claim(effect(run_id)))
    await sealer.seal()
    await ledger.runs.request_cancel(run_id, "why")
    return run_id


async def test_checkpoints_prove_a_whole_journal(ledger: Ledger, sealed: str) -> None:
    found = await proved(ledger)
    assert (found.chains, found.checkpoints, found.unsealed) == (2, 2, 1)
    assert found.last is not None
    assert found.last.number == 2


async def test_a_checkpoint_holds_only_the_heads_that_grew(ledger: Ledger, sealed: str) -> None:
    async with ledger.journal.reading() as reading:
        items = [item async for item in reading.items()]
    heads = [[h.chain for h in item.heads] for item in items if isinstance(item, Sealed)]
    assert heads == [sorted([sealed, "deployment"]), [sealed]]


async def test_nothing_is_signed_when_nothing_grew(ledger: Ledger, sealer: Checkpoints) -> None:
    assert await sealer.seal() is not None
    assert await sealer.seal() is None


async def test_one_checkpoint_a_second_whoever_asks(ledger: Ledger, run_id: str) -> None:
    one, other = ledger.checkpoints(KEYS), ledger.checkpoints(KEYS)
    assert await one.seal() is not None
    await ledger.runs.request_cancel(run_id, "why")
    assert await other.seal() is None


async def test_a_record_that_is_committed_late_is_under_the_next_checkpoint(
    ledger: Ledger, run_id: str, sealer: Checkpoints, owner_url: str
) -> None:
    late = (await ledger.admissions.admit(admission("key-late"))).run_id
    await sealer.seal()
    async with await psycopg.AsyncConnection.connect(owner_url) as slow:
        # An older transaction than the next records, open while they are sealed.
        await slow.execute("update coordinator.runs set scope = scope where id = %s", [late])
        await slow.execute(
            "insert into coordinator.journal (chain, sequence, owner, scope, previous, hash, kind,"
            " recorded_at, refs, detail) select chain, 2, '', '', hash, '\\x01', 'slow', now(),"
            " '{}', '{}' from coordinator.journal where chain = %s",
            [late],
        )
        await ledger.runs.request_cancel(run_id, "why")
        assert (await sealer.seal()) is not None
        await slow.commit()
    made = await sealer.seal()
    assert made is not None
    assert made.heads == 1


async def test_a_ledger_in_another_database_is_sealed_from_the_start(
    ledger: Ledger, sealed: str, sealer: Checkpoints, sql: Sql
) -> None:
    # As after a restore into a server whose transaction numbers are lower.
    await sql("update coordinator.checkpoints set place = 'elsewhere', horizon = '9999999'")
    made = await sealer.seal()
    assert made is not None
    assert made.heads == 1
    assert (await proved(ledger)).unsealed == 0


async def test_what_does_not_fit_is_under_the_next_checkpoint(
    ledger: Ledger, sealer: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapter.ledger.checkpoints.LARGEST", 2)
    for number in range(4):
        await ledger.admissions.admit(admission(f"key-{number}"))
    made = [await sealer.seal() for _ in range(4)]
    assert [one and one.heads for one in made] == [2, 2, 1, None]
    assert (await proved(ledger)).unsealed == 0


TAMPERED = [
    ("update {j} set detail = '{{}}' where chain = %s and sequence = 1", "record-changed", 1),
    ("update {j} set recorded_at = now() where chain = %s and sequence = 2", "record-changed", 2),
    ("delete from {j} where chain = %s and sequence = 2", "record-missing", 2),
    ("delete from {j} where chain = %s and sequence = 3", "record-missing", 3),
    ("delete from {j} where chain = %s and sequence = 4", "record-missing", 4),
    ("delete from {j} where chain = %s", "record-missing", 1),
    (
        (
            "update {j} set sequence = -sequence where chain = %s and sequence in (1, 2);"
            "update {j} set sequence = 3 + sequence where sequence < 0"
        ),
        "record-changed",
        1,
    ),
]


@pytest.mark.parametrize(("statement", "code", "sequence"), TAMPERED)
async def test_a_change_of_records_is_found_at_the_first(
    ledger: Ledger, sealed: str, sql: Sql, statement: str, code: str, sequence: int
) -> None:
    for part in statement.format(j="coordinator.journal").split(";"):
        await sql(part, *([sealed] if "%s" in part else []))
    assert await fault(ledger) == (f"audit.{code}", sealed, sequence)


async def test_a_tail_that_is_cut_with_its_head_is_found_by_the_checkpoint(
    ledger: Ledger, sealed: str, sql: Sql
) -> None:
    await sql("delete from coordinator.journal where chain = %s and sequence > 2", sealed)
    await sql(
        "update coordinator.runs set journal_sequence = 2, journal_head ="
        " (select hash from coordinator.journal where chain = %s and sequence = 2)",
        sealed,
    )
    assert await fault(ledger) == ("audit.record-missing", sealed, 3)


async def test_a_chain_that_is_written_anew_is_found_by_the_checkpoint(
    ledger: Ledger, sealed: str, sql: Sql
) -> None:
    await rewritten(sql, sealed)
    assert await fault(ledger) == ("audit.record-replaced", sealed, 1)


async def test_a_record_behind_the_ledgers_back_is_found(
    ledger: Ledger, sealed: str, sql: Sql
) -> None:
    await sql(
        "insert into coordinator.journal (chain, sequence, owner, scope, previous, hash, kind,"
        " recorded_at, refs, detail) values ('other', 0, '', '', '', '', '', now(), '{}', '{}')"
    )
    code, _, _ = await fault(ledger)
    assert code == "audit.record-added"


CHECKPOINTS = [
    ("delete from coordinator.checkpoints where number = 1", "checkpoint-missing", 1),
    ("update coordinator.checkpoints set root = '\\x00' where number = 2", "signature-invalid", 2),
    ("update coordinator.checkpoint_heads set sequence = 9 where checkpoint = 2", "changed", 2),
    ("delete from coordinator.checkpoint_heads where checkpoint = 1 and leaf = 0", "changed", 1),
    ("update coordinator.checkpoints set key_version = 7 where number = 2", "key-unknown", 2),
    ("update coordinator.checkpoints set number = 3 where number = 2", "checkpoint-missing", 2),
]


@pytest.mark.parametrize(("statement", "code", "number"), CHECKPOINTS)
async def test_a_change_of_checkpoints_is_found(
    ledger: Ledger, sealed: str, sql: Sql, statement: str, code: str, number: int
) -> None:
    await sql(statement)
    wanted = f"audit.checkpoint-{code.removeprefix('checkpoint-')}"
    assert await fault(ledger) == (wanted, "checkpoint", number)


async def test_checkpoints_that_another_key_has_signed_are_found(
    ledger: Ledger, sealed: str
) -> None:
    assert await fault(ledger, keys=OTHER) == (
        "audit.checkpoint-signature-invalid",
        "checkpoint",
        1,
    )


async def test_a_key_may_be_turned(ledger: Ledger, sealed: str, sealer: Checkpoints) -> None:
    await ledger.checkpoints(TURNED).seal()
    assert (await proved(ledger, keys=TURNED)).checkpoints == 3
    assert await fault(ledger, keys=KEYS) == ("audit.checkpoint-key-unknown", "checkpoint", 3)


async def test_a_journal_that_was_set_back_is_found_by_a_saved_checkpoint(
    ledger: Ledger, sealed: str, sealer: Checkpoints, sql: Sql
) -> None:
    saved = await sealer.seal()
    assert (await proved(ledger, saved=saved)).checkpoints == 3
    await sql("delete from coordinator.checkpoints where number = 3")
    await sql("delete from coordinator.checkpoint_heads where checkpoint = 3")
    assert (await proved(ledger)).checkpoints == 2
    assert await fault(ledger, saved=saved) == ("audit.checkpoint-missing", "checkpoint", 3)


async def rewritten(sql: Sql, chain: str) -> None:
    """Write a run's chain anew with right hashes, its head included."""
    rows = await sql(
        "select sequence, kind, recorded_at, refs from coordinator.journal"
        " where chain = %s order by sequence",
        chain,
    )
    head = b""
    for sequence, kind, at, refs in rows:
        before, head = head, record_hash(chain, sequence, head, kind, at, refs, {})
        await sql(
            "update coordinator.journal set detail = '{}', previous = %s, hash = %s"
            " where chain = %s and sequence = %s",
            *(before, head, chain, sequence),
        )
    await sql("update coordinator.runs set journal_head = %s where id = %s", head, chain)


async def test_the_census_knows_since_when_nothing_was_sealed(
    ledger: Ledger, run_id: str, sealer: Checkpoints, sql: Sql
) -> None:
    [(first,)] = await sql("select min(recorded_at) from coordinator.journal")
    assert (await ledger.census.count()).oldest_unsealed == first
    await sealer.seal()
    assert (await ledger.census.count()).oldest_unsealed is None
    await ledger.runs.request_cancel(run_id, "why")
    [(recorded,)] = await sql("select max(recorded_at) from coordinator.journal")
    assert (await ledger.census.count()).oldest_unsealed == recorded
    await sealer.seal()
    assert (await ledger.census.count()).oldest_unsealed is None


async def test_a_process_that_looked_in_vain_rests_longer_than_one_that_signed(
    ledger: Ledger, run_id: str, sealer: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapter.ledger.checkpoints._IDLE_SECONDS", 3600.0)
    other = ledger.checkpoints(KEYS)
    await sealer.seal_due()
    await other.seal_due()
    await ledger.runs.request_cancel(run_id, "why")
    await other.seal_due()
    assert (await proved(ledger)).unsealed == 1
    async with asyncio.timeout(30):
        while (await proved(ledger)).unsealed:
            await asyncio.sleep(0.1)
            await sealer.seal_due()
