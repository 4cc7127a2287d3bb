"""Readers of runs: one record an hour for each, in the run's own chain."""

from __future__ import annotations

from collections.abc import AsyncIterator

import psycopg
import pytest

from adapter.crypto import KeyRing, Sealer
from adapter.ledger import Ledger
from adapter.wiring.reading import ReadNotes
from tests.adapter.ledger.words import PACKAGE, admission


@pytest.fixture
async def ledger(database_url: str) -> AsyncIterator[Ledger]:
    """An open ledger with an active package."""
    keys = KeyRing.generate()
    async with await Ledger.open(database_url, Sealer(keys, "test"), keys, pool_size=2) as opened:
        await opened.packages.apply(PACKAGE, "deployer")
        yield opened


async def test_a_reader_who_comes_again_within_the_hour_is_known(
    ledger: Ledger, owner_url: str
) -> None:
    run_id = (await ledger.admissions.admit(admission())).run_id
    now = 0.0
    notes = ReadNotes(ledger.audit, lambda: now)
    for at, actor in ((0, "desk"), (3599, "desk"), (3599, "clerk"), (3600, "desk")):
        now = float(at)
        await notes.note(run_id, actor, "output")
    async with await psycopg.AsyncConnection.connect(owner_url) as owner:
        asked = "select refs->>'actor' from coordinator.journal where kind = 'run.read'"
        rows = await (await owner.execute(asked)).fetchall()
    actors = [ledger.keyed.reference("actor", name) for name in ("desk", "clerk", "desk")]
    assert [actor for (actor,) in rows] == actors
