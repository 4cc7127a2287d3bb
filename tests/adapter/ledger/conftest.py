"""An open ledger on a fresh database, with one active package and a run of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import psycopg
import pytest

from adapter.crypto import KeyRing, Sealer
from adapter.ledger import Ledger
from tests.adapter.ledger.words import PACKAGE, admission


@pytest.fixture
def keys() -> KeyRing:
    """A key ring of its own for each test."""
    return KeyRing.generate()


@pytest.fixture
async def ledger(database_url: str, keys: KeyRing) -> AsyncIterator[Ledger]:
    """An open ledger with one active package."""
    async with await Ledger.open(database_url, Sealer(keys, "test"), keys, pool_size=4) as opened:
        await opened.packages.apply(PACKAGE, "deployer")
        yield opened


@pytest.fixture
async def sql(owner_url: str) -> AsyncIterator[Callable[..., Awaitable[list[Any]]]]:
    """Runs one statement beside the ledger, as the owner, and gives its rows."""
    connection = await psycopg.AsyncConnection.connect(owner_url, autocommit=True)

    async def run(statement: str, *values: Any) -> list[Any]:
        cursor = await connection.execute(statement.encode(), values)
        return await cursor.fetchall() if cursor.description else []

    async with connection:
        yield run


@pytest.fixture
async def run_id(ledger: Ledger) -> str:
    """A run that was admitted and started."""
    admitted = await ledger.admissions.admit(admission())
    await ledger.admissions.bind_started(admitted.run_id, 1, "temporal-run")
    return admitted.run_id
