"""The audit journal: a chain per run that shows every change to it."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta, timezone
from typing import Any

from adapter.audit import record_hash
from adapter.ledger import Ledger
from interpreter.contract.records import Closing, RunState
from interpreter.contract.values import canonical_bytes
from tests.adapter.ledger.words import accepted, answer, claim, dispatch, effect, read

Sql = Callable[..., Awaitable[list[Any]]]


async def proved(sql: Sql, chain: str) -> list[str]:
    """Follow a chain from its beginning; gives the kinds of its records."""
    previous = b""
    kinds = []
    rows = await sql(
        "select sequence, previous, hash, kind, recorded_at, refs, detail from coordinator.journal"
        " where chain = %s order by sequence",
        chain,
    )
    for expected, (sequence, before, own, kind, at, refs, detail) in enumerate(rows, start=1):
        assert (sequence, before) == (expected, previous)
        assert own == record_hash(chain, sequence, before, kind, at, refs, detail)
        previous = own
        kinds.append(kind)
    return kinds


async def test_the_records_of_a_run_are_one_chain_from_its_admission_to_its_end(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    sent = claim(effect(run_id), sequence=3)
    await ledger.effects.read_outcome(read(effect(run_id, "look")))
    await dispatch(ledger, sent)
    await ledger.effects.settle(answer(sent, accepted()))
    await ledger.runs.request_cancel(run_id, "why")
    await ledger.runs.close(run_id, 1, Closing(RunState.CANCELLED, 9))
    assert await proved(sql, run_id) == [
        "run.admitted",
        "run.started",
        "effect.accepted",
        "effect.dispatched",
        "effect.accepted",
        "run.cancel-requested",
        "run.closed",
    ]
    head = await sql(
        "select hash from coordinator.journal where chain = %s order by sequence desc", run_id
    )
    assert await sql("select journal_head from coordinator.runs") == [head[0]]


def test_a_record_is_hashed_in_its_canonical_form() -> None:
    at = datetime(2026, 12, 1, 3, 4, 5, 60, tzinfo=timezone(timedelta(hours=2)))
    detail = {"z": 1, "a": 'é"\n\x01/\u2028', "list": ["b", "a"], "none": None}
    record = ["run", 2, "00", "effect.accepted", "2026-12-01T01:04:05.000060+00:00", {}, detail]
    expected = hashlib.sha256(canonical_bytes(record)).digest()
    assert record_hash("run", 2, b"\0", "effect.accepted", at, {}, detail) == expected


async def test_the_deployments_own_acts_are_a_chain_of_their_own(ledger: Ledger, sql: Sql) -> None:
    await ledger.packages.withdraw("reviewed-notice", "operator")
    kinds = ["schema.migrated", "package.activated", "package.withdrawn"]
    assert await proved(sql, "deployment") == kinds


async def test_a_record_names_steps_and_reasons_by_keyed_references_only(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    await dispatch(ledger, claim(effect(run_id)))
    await ledger.runs.request_cancel(run_id, "because of Ada")
    records = str(await sql("select refs, detail from coordinator.journal"))
    assert "Ada" not in records
    assert "main/send" not in records
    assert ledger.keyed.reference("step", "main/send:1") in records
