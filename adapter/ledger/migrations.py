"""Brings a database to this program's schema and rights: which migrations are due, and the grants.

Our own runner instead of yoyo: yoyo drives a second, synchronous driver connection, keeps a lock
row that a killed process leaves behind, and commits each migration by itself. Here all that is due
is applied in one transaction under one advisory lock, so two deployers at once are harmless and a
failed upgrade leaves the database as it was.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import resources

import psycopg

from adapter.errors import Refused, Unavailable
from adapter.ledger.audit import ChainRow, recorded
from adapter.ledger.grants import grant_least
from adapter.ledger.journal import DEPLOYMENT_CHAIN
from adapter.ledger.queries import queries
from interpreter.contract.values import JsonValue

_AUDIT = queries("audit")

# Any constant serves, as long as nothing else in the database takes the same advisory lock.
_LOCK = 0x636F6F7264696E61

_PREPARE = b"""
create schema if not exists coordinator;
create table if not exists coordinator.migrations (
    name text primary key,
    digest text not null,
    applied_at timestamptz not null default clock_timestamp()
);
"""


@dataclass(frozen=True, slots=True)
class Migrated:
    """What a migration changed: the names applied, in order, and whether rights were granted."""

    names: list[str]
    granted: bool


async def migrate(url: str, runtime_role: str) -> Migrated:
    """Apply every migration that the database lacks, and grant the service's role the least.

    ``url`` is of the role that owns the schema. All of it is one transaction with its record in the
    journal. Raises Refused ``migration.unknown`` (the database is newer than this program),
    ``migration.changed`` (an applied file reads differently now), ``migration.failed``,
    ``ledger.not-utf8`` or ``ledger.role-unknown``, and Unavailable ``ledger.unavailable``.
    """
    try:
        async with await psycopg.AsyncConnection.connect(url, client_encoding="UTF8") as connection:
            _require_utf8(connection)
            await connection.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
            await connection.execute(_PREPARE)
            done = Migrated(
                await _apply_due(connection), await grant_least(connection, runtime_role)
            )
            if done.names or done.granted:
                await _journal(connection, done)
            return done
    except psycopg.OperationalError as error:
        raise Unavailable(
            "ledger.unavailable",
            "the ledger's database did not answer",
            place="ledger",
            remedy="check its address and that the server runs",
        ) from error
    except psycopg.Error as error:
        raise Refused(
            "migration.failed",
            f"the database refused the schema (SQLSTATE {error.sqlstate})",
            place="ledger",
            remedy="use an empty database and a role that may create a schema in it",
        ) from error


def _require_utf8(connection: psycopg.AsyncConnection) -> None:
    # A server whose locale was C made SQL_ASCII databases, which check and translate nothing.
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise Refused(
            "ledger.not-utf8",
            f"the database keeps texts as {encoding}, and the ledger needs UTF8",
            place="ledger",
            remedy="create it with encoding 'UTF8' template template0, see docs/database-roles.md",
        )


async def _apply_due(connection: psycopg.AsyncConnection) -> list[str]:
    cursor = await connection.execute("select name, digest from coordinator.migrations")
    applied: dict[str, str] = dict(await cursor.fetchall())
    files = _files()
    _require_known(applied, files)
    due = [name for name in files if name not in applied]
    for name in due:
        await connection.execute(files[name])
        await connection.execute(
            "insert into coordinator.migrations (name, digest) values (%s, %s)",
            (name, _digest(files[name])),
        )
    return due


async def _journal(connection: psycopg.AsyncConnection, done: Migrated) -> None:
    cursor = await connection.execute(_AUDIT["lock_chain"], {"chain": DEPLOYMENT_CHAIN})
    head = await cursor.fetchone()
    assert head is not None, "the migration writes the row"
    detail: dict[str, JsonValue] = {"migrations": [*done.names], "granted": done.granted}
    record = recorded(ChainRow(*head), "schema.migrated", {}, detail)
    await connection.execute(record.sql, record.parameters)


def _require_known(applied: dict[str, str], files: dict[str, bytes]) -> None:
    for name, digest in applied.items():
        if name not in files:
            raise Refused(
                "migration.unknown",
                "the database has a migration that this program does not know",
                place=name,
                remedy="run the newer program that applied it",
            )
        if digest != _digest(files[name]):
            raise Refused(
                "migration.changed",
                "an applied migration reads differently in this program",
                place=name,
                remedy="add a new migration instead of editing an applied one",
            )


def own_migrations() -> frozenset[str]:
    """The names of the migrations that this program knows."""
    return frozenset(_files())


def _files() -> dict[str, bytes]:
    folder = resources.files(__package__) / "sql" / "migrations"
    found = {item.name: item.read_bytes() for item in folder.iterdir()}
    return {name.removesuffix(".sql"): found[name] for name in sorted(found)}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
