"""Notes in the journal: what an act that writes nothing else leaves behind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from activities.errors import ActivityError, LedgerUnavailable
from adapter.ledger import Ledger
from tests.adapter.ledger.test_journal import proved

Sql = Callable[..., Awaitable[list[Any]]]


async def test_a_note_is_one_record_of_its_chain_with_keyed_references(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    await ledger.audit.note("codec.decoded", {"actor": "Ada"}, run_id=run_id, payloads=2)
    await ledger.audit.note("key.resealed", {"actor": "Ada"}, version=2)
    assert (await proved(sql, run_id))[-1] == "codec.decoded"
    assert (await proved(sql, "deployment"))[-1] == "key.resealed"
    rows = await sql("select refs, detail from coordinator.journal where kind = 'codec.decoded'")
    assert rows == [({"actor": ledger.keyed.reference("actor", "Ada")}, {"payloads": 2})]


async def test_a_note_about_a_run_that_was_never_admitted_is_refused(ledger: Ledger) -> None:
    with pytest.raises(ActivityError) as refusal:
        await ledger.audit.note("codec.decoded", {}, run_id="11111111-1111-1111-1111-111111111111")
    assert refusal.value.code == "run.unknown"


async def test_a_note_that_can_not_be_written_is_an_error(ledger: Ledger, sql: Sql) -> None:
    await sql("alter table coordinator.journal add check (kind <> 'key.resealed')")
    with pytest.raises(LedgerUnavailable):
        await ledger.audit.note("key.resealed", {})


async def test_the_reason_for_a_hold_is_sealed_and_can_be_read_later(
    ledger: Ledger, sql: Sql
) -> None:
    await ledger.holds.begin_review("ops", "restored after the fire")
    reference = ledger.keyed.reference("reason", "restored after the fire")
    assert await ledger.reasons.texts([reference, "none"]) == {reference: "restored after the fire"}
    [(sealed,)] = await sql("select sealed_text from coordinator.reasons")
    assert b"fire" not in sealed


async def test_an_act_about_the_deployment_needs_its_first_record(ledger: Ledger, sql: Sql) -> None:
    await sql("alter table coordinator.journal add check (kind !~ 'restore-hold.asked')")
    with pytest.raises(LedgerUnavailable):
        await ledger.holds.begin_review("ops", "restored")
    assert not (await ledger.holds.standing()).restore_hold
