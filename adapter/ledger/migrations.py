"""Brings a database to this program's schema: which migrations are due, and their application.

Our own runner instead of yoyo: yoyo drives a second, synchronous driver connection, keeps a lock
row that a killed process leaves behind, and commits each migration by itself. Here all that is due
is applied in one transaction under one advisory lock, so two deployers at once are harmless and a
failed upgrade leaves the database as it was.
"""

from __future__ import annotations

import hashlib
from importlib import resources

import psycopg

from adapter.errors import Refused, Unavailable

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


async def migrate(url: str) -> list[str]:
    """Apply every migration that the database lacks; gives their names, in order.

    Raises Refused ``migration.unknown`` (the database is newer than this program),
    ``migration.changed`` (an applied file reads differently now) or ``migration.failed``, and
    Unavailable ``ledger.unavailable``.
    """
    try:
        async with await psycopg.AsyncConnection.connect(url) as connection:
            await connection.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
            await connection.execute(_PREPARE)
            return await _apply_due(connection)
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


def _files() -> dict[str, bytes]:
    folder = resources.files(__package__) / "sql" / "migrations"
    found = {item.name: item.read_bytes() for item in folder.iterdir()}
    return {name.removesuffix(".sql"): found[name] for name in sorted(found)}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
