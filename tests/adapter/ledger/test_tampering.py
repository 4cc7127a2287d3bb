"""Ciphertexts in the database open in their own run, step and column only, under its own keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from adapter.crypto import KeyRing, Sealer, SealError
from adapter.errors import Refused
from adapter.ledger import ActKind, Ledger, SignalWish, Wish
from interpreter.contract.records import Closing, RunState
from tests.adapter.ledger.words import accepted, admission, answer, claim, dispatch, effect, unknown

Sql = Callable[..., Awaitable[list[Any]]]


@dataclass(frozen=True, slots=True)
class Full:
    """A run with something in every sealed column, and the ids of its act and signal."""

    run_id: str
    act: str
    signal: str


async def full(ledger: Ledger, key: str) -> Full:
    run_id = (await ledger.admissions.admit(admission(key))).run_id
    for node in ("send", "more"):
        sent = claim(effect(run_id, node))
        await dispatch(ledger, sent)
        await ledger.effects.settle(answer(sent, accepted({"n": node}), receipt={"id": "r"}))
    signal = await ledger.signals.begin(run_id, SignalWish("paid", "desk", "s1", {"a": 1}))
    act = await ledger.acts.begin(run_id, Wish(ActKind.CANCEL, "ops", "because", "request-1"))
    await ledger.runs.close(
        run_id, 1, Closing(RunState.FINISHED, 9, "done", {"o": 1}, despite_cancel=True)
    )
    return Full(run_id, act.id, signal.id)


@pytest.fixture
async def runs(ledger: Ledger) -> tuple[Full, Full]:
    """Two runs with something in every sealed column."""
    return await full(ledger, "one"), await full(ledger, "two")


async def open_everything(ledger: Ledger, run: Full) -> None:
    """Open every sealed column of a run in the way that the ledger does."""
    await ledger.admissions.start_request(run.run_id)
    for node in ("send", "more"):
        await ledger.effects.saved(effect(run.run_id, node))
        await ledger.effects.claim(claim(effect(run.run_id, node)))
    ledger.acts.reason(await ledger.acts.act(run.act))
    ledger.signals.payload(await ledger.signals.signal(run.signal))
    await ledger.reads.inspect(run.run_id, None)


async def test_what_was_not_touched_opens(ledger: Ledger, runs: tuple[Full, Full]) -> None:
    for run in runs:
        await open_everything(ledger, run)


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("inputs", "sealed_input"),
        ("effects", "sealed_command"),
        ("effects", "sealed_reply"),
        ("receipts", "sealed_receipt"),
        ("executions", "sealed_output"),
        ("acts", "sealed_reason"),
        ("signals", "sealed_payload"),
        ("run_keys", "wrapped_key"),
    ],
)
async def test_a_ciphertext_moved_to_another_run_is_found(
    ledger: Ledger, runs: tuple[Full, Full], sql: Sql, table: str, column: str
) -> None:
    one, two = runs
    same = "and m.visit = t.visit" if table in ("effects", "receipts") else ""
    await sql(
        f"update coordinator.{table} t set {column} = m.{column} from coordinator.{table} m"
        f" where t.run_id = %s and m.run_id = %s {same}",
        one.run_id,
        two.run_id,
    )
    with pytest.raises(SealError) as refusal:
        await open_everything(ledger, one)
    assert refusal.value.code == "seal.not-authentic"
    await open_everything(ledger, two)


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("effects", "sealed_command"),
        ("effects", "sealed_reply"),
        ("receipts", "sealed_receipt"),
    ],
)
async def test_a_ciphertext_moved_to_another_step_is_found(
    ledger: Ledger, runs: tuple[Full, Full], sql: Sql, table: str, column: str
) -> None:
    run = runs[0]
    await sql(
        f"update coordinator.{table} t set {column} = m.{column} from coordinator.{table} m"
        " where t.run_id = %s and m.run_id = t.run_id and m.visit <> t.visit",
        run.run_id,
    )
    with pytest.raises(SealError, match="not-authentic"):
        await open_everything(ledger, run)


@pytest.mark.parametrize(
    "moved",
    [
        "effects t set sealed_command = m.sealed_reply from coordinator.effects m",
        "effects t set sealed_reply = m.sealed_command from coordinator.effects m",
        "effects t set sealed_reply = m.sealed_receipt from coordinator.receipts m",
        "receipts t set sealed_receipt = m.sealed_reply from coordinator.effects m",
        "executions t set sealed_output = m.sealed_input from coordinator.inputs m",
        "executions t set sealed_output = m.wrapped_key from coordinator.run_keys m",
        "signals t set sealed_payload = m.sealed_reason from coordinator.acts m",
        "acts t set sealed_reason = m.sealed_payload from coordinator.signals m",
    ],
)
async def test_a_ciphertext_moved_to_another_column_is_found(
    ledger: Ledger, runs: tuple[Full, Full], sql: Sql, moved: str
) -> None:
    await sql(
        f"update coordinator.{moved} where t.run_id = %s and m.run_id = t.run_id", runs[0].run_id
    )
    with pytest.raises(SealError):
        await open_everything(ledger, runs[0])


async def test_an_output_moved_to_another_execution_is_found(
    ledger: Ledger, runs: tuple[Full, Full], sql: Sql
) -> None:
    await sql("update coordinator.executions set execution = 2")
    await sql("update coordinator.runs set execution = 2")
    with pytest.raises(SealError, match="not-authentic"):
        await ledger.reads.run_status(runs[0].run_id, None)


async def test_a_ciphertext_of_another_deployment_is_found(
    ledger: Ledger, runs: tuple[Full, Full], keys: KeyRing
) -> None:
    elsewhere = Ledger(ledger._pool, Sealer(keys, "elsewhere"), keys)
    with pytest.raises(SealError, match="not-authentic"):
        await open_everything(elsewhere, runs[0])


async def test_data_keys_that_were_swapped_open_neither_run(
    ledger: Ledger, runs: tuple[Full, Full], sql: Sql, database_url: str, keys: KeyRing
) -> None:
    one, other = (run.run_id for run in runs)
    await sql(
        "update coordinator.run_keys k set wrapped_key = o.wrapped_key"
        " from coordinator.run_keys o where k.run_id in (%s, %s) and o.run_id in (%s, %s)"
        " and o.run_id <> k.run_id",
        *(one, other, one, other),
    )
    async with await Ledger.open(database_url, Sealer(keys, "test"), keys) as again:
        for run in runs:
            with pytest.raises(SealError, match="not-authentic"):
                await open_everything(again, run)


async def test_a_definition_that_was_changed_is_found(
    ledger: Ledger, sql: Sql, database_url: str, keys: KeyRing
) -> None:
    flipped = "set_byte(sealed_definition, 40, 255 - get_byte(sealed_definition, 40))"
    await sql(f"update coordinator.definitions set sealed_definition = {flipped}")
    async with await Ledger.open(database_url, Sealer(keys, "test"), keys) as again:
        with pytest.raises(SealError, match="not-authentic"):
            await again.definitions.get(admission().expected_revision)


def swapped(keys: KeyRing) -> KeyRing:
    """The same version with other bytes."""
    other = KeyRing.generate()
    return KeyRing(other.versions, 1, keys.admission, keys.admission_active)


async def test_a_wrong_key_under_a_known_version_is_refused_at_the_start(
    ledger: Ledger, keys: KeyRing, database_url: str
) -> None:
    with pytest.raises(Refused) as refusal:
        await Ledger.open(database_url, Sealer(swapped(keys), "test"), swapped(keys))
    assert refusal.value.code == "ledger.other-keys"
    assert refusal.value.place == "/keys/state/versions/1"


async def test_a_missing_version_that_is_in_use_is_refused_at_the_start(
    ledger: Ledger, keys: KeyRing, database_url: str
) -> None:
    fresh = KeyRing.generate()
    later = KeyRing({2: fresh.versions[1]}, 2, keys.admission, keys.admission_active)
    with pytest.raises(Refused) as refusal:
        await Ledger.open(database_url, Sealer(later, "test"), later)
    assert refusal.value.code == "seal.key-missing"
    assert "version 1" in str(refusal.value)


async def test_no_state_of_an_unknown_effect_is_decided_by_a_forged_reply(
    ledger: Ledger, sql: Sql, runs: tuple[Full, Full]
) -> None:
    run_id = (await ledger.admissions.admit(admission("three"))).run_id
    sent = claim(effect(run_id))
    await dispatch(ledger, sent)
    await ledger.effects.settle(answer(sent, unknown()))
    await sql(
        "update coordinator.effects t set sealed_reply = m.sealed_reply, outcome = 'accepted',"
        " uncertain = false from coordinator.effects m where t.run_id = %s and m.run_id = %s"
        " and m.visit = t.visit",
        run_id,
        runs[0].run_id,
    )
    with pytest.raises(SealError, match="not-authentic"):
        await ledger.effects.claim(claim(effect(run_id)))
