"""An act whose first record can not be written does not happen: nothing at all is changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from activities.errors import LedgerUnavailable
from adapter.crypto import KeyRing
from adapter.ledger import ActKind, Ledger, SignalWish, Wish
from adapter.ledger.grants import GRANTS
from adapter.ledger.holds import Attested, HoldCode
from adapter.ledger.rotation import Rotation
from interpreter.contract.records import Closing, RunState
from tests.adapter.ledger.words import PACKAGE, admission, claim, effect, read

Sql = Callable[..., Awaitable[list[Any]]]
Act = Callable[[Ledger, str], Awaitable[object]]
NOW = datetime.now(UTC)
OTHER = replace(PACKAGE, digest="sha256:p2")
VOUCHED = Attested("ticket-1", True, True)

ACTS: dict[str, Act] = {
    "admit": lambda ledger, _: ledger.admissions.admit(admission("key-2")),
    "bind": lambda ledger, run: ledger.admissions.bind_started(run, 1, "another"),
    "dispatch": lambda ledger, run: ledger.effects.claim(claim(effect(run))),
    "read": lambda ledger, run: ledger.effects.read_outcome(read(effect(run, "look"))),
    "close": lambda ledger, run: ledger.runs.close(run, 1, Closing(RunState.FAILED, 1)),
    "cancel": lambda ledger, run: ledger.acts.begin(run, Wish(ActKind.CANCEL, "ops", "why", "r1")),
    "signal": lambda ledger, run: ledger.signals.begin(run, SignalWish("go", "ops", "s1", {})),
    "apply": lambda ledger, _: ledger.packages.apply(OTHER, "deployer"),
    "withdraw": lambda ledger, _: ledger.packages.withdraw(PACKAGE.definition.id, "deployer"),
    "hold": lambda ledger, _: ledger.holds.place(HoldCode.LEDGER_BEHIND),
    "review": lambda ledger, _: ledger.holds.begin_review("ops", "why"),
    "release": lambda ledger, _: ledger.holds.release_admission("ops", VOUCHED),
    "retain": lambda ledger, _: ledger.retention.retain("ops", NOW, 1),
    "note": lambda ledger, run: ledger.audit.note("payload.read", {}, run_id=run),
}


async def everything(sql: Sql) -> dict[str, Any]:
    """All rows of all tables, as one digest for each."""
    asked = "select md5(coalesce(string_agg(t::text, ' ' order by t::text), '')) from {} t"
    tables = GRANTS.keys()
    return {table: await sql(asked.format(f"coordinator.{table}")) for table in tables}


@pytest.mark.parametrize("act", ACTS)
async def test_nothing_happens_without_its_record(
    ledger: Ledger, run_id: str, sql: Sql, act: str
) -> None:
    await sql("alter table coordinator.journal add check (false) not valid")
    before = await everything(sql)
    with pytest.raises(LedgerUnavailable):
        await ACTS[act](ledger, run_id)
    assert await everything(sql) == before


async def test_no_key_is_renewed_without_its_record(
    ledger: Ledger, run_id: str, sql: Sql, keys: KeyRing, owner_url: str
) -> None:
    await sql("alter table coordinator.journal add check (kind !~ 'asked$')")
    both = KeyRing({**keys.versions, 2: bytes(range(32))}, 2, keys.admission, 1)
    async with Rotation.open(owner_url, both, "test") as rotation:
        before = await everything(sql)
        with pytest.raises(LedgerUnavailable):
            await rotation.reseal("ops")
    assert await everything(sql) == before
