"""Migrations: applied once, in one transaction, and never to a database of another kind."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
import pytest

import adapter.ledger
from adapter.crypto import KeyRing, Sealer
from adapter.embedded import SERVICE_ROLE
from adapter.errors import Refused, Unavailable
from adapter.ledger import Ledger, Migrated, migrate
from tests.fixtures.postgres import as_owner

KEYS = KeyRing.generate()
_FILES = Path(adapter.ledger.__file__).parent / "sql" / "migrations"
EVERY = sorted(file.stem for file in _FILES.glob("*.sql"))


async def execute(url: str, statement: str) -> None:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute(statement.encode())


async def test_what_is_due_is_applied_once(empty_database_url: str) -> None:
    url = as_owner(empty_database_url)
    assert await migrate(url, SERVICE_ROLE) == Migrated(EVERY, True)
    assert await migrate(url, SERVICE_ROLE) == Migrated([], False)


async def test_a_database_in_another_encoding_is_refused(latin_database_url: str) -> None:
    with pytest.raises(Refused, match="LATIN1") as raised:
        await migrate(as_owner(latin_database_url), SERVICE_ROLE)
    assert raised.value.code == "ledger.not-utf8"


async def test_the_encoding_of_the_environment_changes_nothing(
    empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "SQL_ASCII")
    url = as_owner(empty_database_url)
    assert await migrate(url, SERVICE_ROLE) == Migrated(EVERY, True)
    assert await migrate(url, SERVICE_ROLE) == Migrated([], False)
    async with await Ledger.open(empty_database_url, Sealer(KEYS, "test"), KEYS):
        pass


async def test_two_deployers_at_once_are_harmless(empty_database_url: str) -> None:
    url = as_owner(empty_database_url)
    applied = await asyncio.gather(migrate(url, SERVICE_ROLE), migrate(url, SERVICE_ROLE))
    assert sorted(done.names for done in applied) == [[], EVERY]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("update coordinator.migrations set digest = 'other'", "migration.changed"),
        ("insert into coordinator.migrations values ('9999_later', 'x')", "migration.unknown"),
    ],
)
async def test_a_database_that_this_program_does_not_know_is_refused(
    owner_url: str, change: str, code: str
) -> None:
    await execute(owner_url, change)
    with pytest.raises(Refused) as refusal:
        await migrate(owner_url, SERVICE_ROLE)
    assert refusal.value.code == code


async def test_a_failed_migration_leaves_nothing_behind(empty_database_url: str) -> None:
    url = as_owner(empty_database_url)
    await execute(url, "create schema coordinator; create table coordinator.runs ()")
    with pytest.raises(Refused) as refusal:
        await migrate(url, SERVICE_ROLE)
    assert refusal.value.code == "migration.failed"
    with pytest.raises(psycopg.errors.UndefinedTable):
        await execute(url, "select from coordinator.control")


async def test_a_server_that_does_not_answer_is_one_clear_error() -> None:
    with pytest.raises(Unavailable) as refusal:
        await migrate("postgresql://nobody:secret@127.0.0.1:1/none", SERVICE_ROLE)
    assert refusal.value.code == "ledger.unavailable"
    assert "secret" not in str(refusal.value)


async def test_a_database_without_a_ledger_is_not_opened(empty_database_url: str) -> None:
    with pytest.raises(Refused) as refusal:
        await Ledger.open(empty_database_url, Sealer(KEYS, "test"), KEYS)
    assert refusal.value.code == "ledger.not-migrated"
    assert "coordinatorctl apply" in refusal.value.remedy


async def test_a_database_belongs_to_one_deployment_and_one_admission_key(
    database_url: str,
) -> None:
    async with await Ledger.open(database_url, Sealer(KEYS, "test"), KEYS):
        pass
    other = KeyRing.generate()
    for keys, deployment, code in (
        (KEYS, "other", "ledger.other-deployment"),
        (other, "test", "ledger.other-keys"),
    ):
        with pytest.raises(Refused) as refusal:
            await Ledger.open(database_url, Sealer(keys, deployment), keys)
        assert refusal.value.code == code
