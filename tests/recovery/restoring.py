"""An older ledger in the place of the present one, as an operator restores and reviews it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import psycopg
import pytest

from adapter.crypto import Sealer
from adapter.embedded import OWNER_ROLE, postgres_programs
from adapter.ledger import Ledger
from adapter.ledger.holds import Attested
from tests.fixtures.postgres import as_owner
from tests.recovery.conftest import Site

VOUCHED = Attested("ticket-1", True, True)
Restore = Callable[[], Awaitable[Ledger]]
Backup = Callable[[], Awaitable[Restore]]


async def program(name: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs."""
    process = await asyncio.create_subprocess_exec(postgres_programs() / name, *arguments)
    assert await process.wait() == 0


@pytest.fixture
async def backup(
    site: Site, database_url: str, admin_url: str, tmp_path: Path
) -> AsyncIterator[Backup]:
    """Dumps the ledger as it is now with `pg_dump`; what it gives restores that elsewhere."""
    restored = elsewhere(database_url)
    database = restored.rpartition("/")[2]
    opened: list[Ledger] = []

    async def dump() -> Restore:
        file = tmp_path / "ledger.dump"
        await program("pg_dump", "-Fc", "-f", str(file), "-d", as_owner(database_url))

        async def restore() -> Ledger:
            create = f'create database "{database}" owner {OWNER_ROLE}'
            await program("psql", "-qX", "-d", admin_url, "-c", create)
            await program("pg_restore", "-d", as_owner(restored), str(file))
            keys = site.key_ring
            ledger = await Ledger.open(restored, Sealer(keys, "test"), keys, pool_size=4)
            opened.append(ledger)
            return ledger

        return restore

    yield dump
    for ledger in opened:
        await ledger.close()
    await program("psql", "-qX", "-d", admin_url, "-c", f'drop database if exists "{database}"')


def elsewhere(database_url: str) -> str:
    """Where the backup is restored to."""
    return f"{database_url}_restored"


async def released(ledger: Ledger, *, leave_unknown: bool = False) -> None:
    """Go through the whole review, as an operator does."""
    await ledger.holds.begin_review("ops", "restored the backup of the night")
    await ledger.reviews.complete("ops", VOUCHED)
    await ledger.holds.release_restore("ops", "reviewed", leave_unknown=leave_unknown)
    await ledger.holds.release_admission("ops", VOUCHED)


async def unheld(url: str) -> None:
    """Take this database for the ledger's own and lift its holds, as if it had never moved."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("update coordinator.watermark set place = null")
        await connection.execute(
            "update coordinator.control set restore_hold = false, admissions_hold = false"
        )
