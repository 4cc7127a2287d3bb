"""Erasure is complete: with every key in hand, nothing of an erased run opens from any copy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from activities.errors import ActivityError
from adapter.crypto import KeyRing, RunKeyWrapping, RunSealer, SealError
from adapter.ledger import ActKind, Ledger, SignalWish, Wish
from adapter.ledger.act_rules import ActState
from interpreter.contract.records import Closing, RunState
from tests.adapter.ledger.words import accepted, admission, answer, claim, dispatch, effect

Sql = Callable[..., Awaitable[list[Any]]]
DONE = Closing(RunState.FINISHED, 9, "done", {"canary": "out"}, despite_cancel=True)


def now() -> datetime:
    """An instant that is just over, by any clock of this machine."""
    return datetime.now(UTC)


async def full(ledger: Ledger, key: str) -> str:
    """A run that is over, with something in every sealed column."""
    run_id = (await ledger.admissions.admit(admission(key, input={"canary": "in"}))).run_id
    sent = claim(effect(run_id))
    await dispatch(ledger, sent)
    receipt = {"id": "r", "canary": "receipt"}
    await ledger.effects.settle(answer(sent, accepted({"canary": "reply"}), receipt=receipt))
    signal = await ledger.signals.begin(run_id, SignalWish("paid", "desk", "s", {"canary": "s"}))
    await ledger.signals.conclude(signal.id, "kept")
    act = await ledger.acts.begin(run_id, Wish(ActKind.CANCEL, "ops", "canary", "request-1"))
    await ledger.acts.conclude(act.id, ActState.DONE.value, "")
    sealer = await ledger.run_keys.of(run_id)
    await ledger.payloads.put(run_id, "d", sealer.seal("canary", "payload", "d"))
    await ledger.runs.close(run_id, 1, DONE)
    return run_id


async def dump(sql: Sql) -> dict[str, list[Any]]:
    """Every row of every table."""
    tables = await sql(
        "select table_name from information_schema.tables where table_schema = 'coordinator'"
    )
    return {name: await sql(f"select * from coordinator.{name}") for (name,) in tables}


def binaries(dumped: dict[str, list[Any]]) -> list[bytes]:
    """Every value of a dump that may be sealed."""
    return [
        value for rows in dumped.values() for row in rows for value in row if type(value) is bytes
    ]


def data_keys(dumped: dict[str, list[Any]], keys: KeyRing, run_id: str) -> list[bytes]:
    """Every data key of a run that all keys of the ring get out of a dump."""
    wrapping, found = RunKeyWrapping(keys, "test"), []
    for value in binaries(dumped):
        try:
            found.append(wrapping.unwrap(value, run_id))
        except SealError:
            continue
    return found


def opened(dumped: dict[str, list[Any]], data_key: bytes, run_id: str) -> int:
    """How many values of a dump a data key opens."""
    sealer, purposes, count = RunSealer(data_key, "test", run_id), _PURPOSES, 0
    for value in binaries(dumped):
        for purpose, place in purposes:
            try:
                sealer.open_bytes(value, purpose, place)
                count += 1
            except SealError:
                continue
    return count


_PURPOSES = [
    ("input", ""),
    ("command", "main/send:1"),
    ("reply", "main/send:1"),
    ("output", "1"),
    ("payload", "d"),
]


async def test_nothing_of_an_erased_run_opens_with_every_key_in_hand(
    ledger: Ledger, keys: KeyRing, sql: Sql
) -> None:
    run_id = await full(ledger, "one")
    before = await dump(sql)
    (data_key,) = data_keys(before, keys, run_id)
    assert opened(before, data_key, run_id) == len(_PURPOSES)
    assert await ledger.retention.retain("ops", now(), 1) == 1
    after = await dump(sql)
    assert data_keys(after, keys, run_id) == []
    assert opened(after, data_key, run_id) == 0
    assert "canary" not in str(after)


async def test_the_neighbours_of_an_erased_run_stay_readable(ledger: Ledger, sql: Sql) -> None:
    await full(ledger, "one")
    other = await full(ledger, "two")
    assert await ledger.retention.retain("ops", now(), 1) == 1
    assert (await ledger.reads.run_status(other, None)).output == {"canary": "out"}
    assert await sql("select run_id::text from coordinator.payloads") == [(other,)]


async def test_what_is_asked_of_an_erased_run_says_so(ledger: Ledger) -> None:
    run_id = await full(ledger, "one")
    (act,) = await ledger.acts.of_run(run_id)
    await ledger.retention.retain("ops", now(), 1)
    with pytest.raises(SealError, match="erased"):
        await ledger.run_keys.of(run_id)
    with pytest.raises(SealError, match="erased"):
        ledger.acts.reason(await ledger.acts.act(act.id))
    with pytest.raises(ActivityError, match="absent"):
        await ledger.payloads.get(run_id, "d")
    inspected = await ledger.reads.inspect(run_id, None)
    assert (inspected.run.output, len(inspected.effects)) == (None, 1)
    closed = await ledger.runs.close(run_id, 1, DONE)
    assert (closed.state, closed.output) == (RunState.FINISHED, None)


async def test_a_run_with_an_undelivered_signal_is_kept(ledger: Ledger, run_id: str) -> None:
    await ledger.signals.begin(run_id, SignalWish("paid", "desk", "s1", {}))
    await ledger.runs.close(run_id, 1, DONE)
    assert await ledger.retention.retain("ops", now(), 1) == 0


class Restore:
    """A database that is put back to an earlier time, key by key and value by value."""

    def __init__(self, sql: Sql, run_id: str) -> None:
        self._sql = sql
        self._run_id = run_id
        self._kept: list[Any] = []

    async def back_up(self) -> None:
        """Keep the data key and the input."""
        self._kept = await self._sql(
            "select k.wrapped_key, i.owner, i.scope, i.sealed_input from coordinator.run_keys k"
            " join coordinator.inputs i using (run_id) where run_id = %s",
            self._run_id,
        )

    async def restore(self) -> None:
        """Bring both back, as if nothing had been erased."""
        ((wrapped, owner, scope, sealed),) = self._kept
        await self._sql(
            "insert into coordinator.inputs values (%s, %s, %s, %s)",
            self._run_id,
            owner,
            scope,
            sealed,
        )
        await self._sql(
            "update coordinator.run_keys set wrapped_key = %s where run_id = %s",
            wrapped,
            self._run_id,
        )
        await self._sql("update coordinator.runs set erased_at = null")
        await self._sql("update coordinator.watermark set erased_before = null")


async def test_what_a_restore_brought_back_is_erased_again(
    ledger: Ledger, keys: KeyRing, sql: Sql
) -> None:
    run_id = await full(ledger, "one")
    backup = Restore(sql, run_id)
    await backup.back_up()
    await ledger.retention.retain("ops", now(), 1)
    kept = (await ledger.watermark.read()).erased_before
    later = await full(ledger, "two")
    await backup.restore()
    assert (await ledger.admissions.start_request(run_id)).input == {"canary": "in"}
    assert kept is not None
    await ledger.retention.note_erased(kept)
    assert await ledger.retention.erase_again("ops") == 1
    assert await ledger.retention.erase_again("ops") == 0
    assert data_keys(await dump(sql), keys, run_id) == []
    assert (await ledger.reads.run_status(later, None)).erased_at is None


async def test_nothing_is_erased_again_where_nothing_was(ledger: Ledger) -> None:
    await full(ledger, "one")
    assert await ledger.retention.erase_again("ops") == 0


async def test_what_was_erased_is_remembered_up_to_the_last_of_them(
    ledger: Ledger, sql: Sql
) -> None:
    for key in ("one", "two"):
        await full(ledger, key)
    ended = [at for (at,) in await sql("select closed_at from coordinator.executions order by 1")]
    await ledger.retention.retain("ops", now(), 1)
    assert (await ledger.watermark.read()).erased_before == ended[0] + timedelta(microseconds=1)
    await ledger.retention.note_erased(ended[0])
    assert (await ledger.watermark.read()).mark.erased_before == ended[0] + timedelta(
        microseconds=1
    )
