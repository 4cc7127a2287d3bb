"""What a role may do in the ledger's database, compared at every start with what is needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from psycopg.conninfo import conninfo_to_dict

from adapter.errors import Refused
from adapter.ledger.grants import GRANTS, Grant
from adapter.ledger.migrations import own_migrations
from adapter.ledger.pool import Pool, Question
from adapter.ledger.queries import queries

_SQL = queries("roles")
_MOST_NAMED: Final = 5
_PLACE: Final = "database.url"


@dataclass(frozen=True, slots=True)
class Role:
    """What the connected role is and may do beside its rights on tables.

    ``powers`` are what no service needs, in words; ``lacking`` what every one does. ``schema``
    tells whether the database has a ledger at all.
    """

    schema: bool
    powers: list[str]
    lacking: list[str]


@dataclass(frozen=True, slots=True)
class TableRights:
    """What the connected role may do with one table of the ledger."""

    name: str
    reads: bool
    inserts: bool
    deletes: bool
    updates: list[str]
    further: list[str]


@dataclass(frozen=True, slots=True)
class Applied:
    """A migration that the ledger has."""

    name: str


def role_of(url: str) -> str:
    """The role that an address connects as, '' where the address names none."""
    return str(conninfo_to_dict(url).get("user") or "")


async def require_least(pool: Pool) -> None:
    """Refuse to go on under a role that may do more than the service needs, or less.

    In a ledger that a newer program has migrated, the older one goes on: it still has runs. What
    the newer needs beyond it is allowed there, in tables whose rows change anyway.
    Raises Refused ``ledger.not-migrated`` (no ledger at all), ``ledger.outdated`` (one older than
    this program), ``ledger.role-too-strong`` or ``ledger.role-too-weak``, which name what is too
    much or missing.
    """
    role = await pool.one(Question(_SQL["role"], {}, Role))
    assert role is not None, "a connection has a role"
    if not role.schema:
        raise Refused(
            "ledger.not-migrated",
            "the database has no ledger",
            place="ledger",
            remedy="run `coordinatorctl apply`, which makes it",
        )
    tables = await pool.ask(Question(_SQL["table_rights"], {}, TableRights))
    if GRANTS.keys() - {table.name for table in tables}:
        raise Refused(
            "ledger.outdated",
            "the ledger is older than this program",
            place="ledger",
            remedy="run `coordinatorctl apply`, which migrates it",
        )
    beyond = [*_beyond(tables)]
    if beyond and await _is_newer(pool, tables):
        beyond = [*_beyond(table for table in tables if _lasts(table))]
    strong = [*role.powers, *beyond]
    if strong:
        raise Refused(
            "ledger.role-too-strong",
            f"the service's database role may do more than it needs: {_listed(strong)}",
            place=_PLACE,
            remedy="give the service a role of its own, see docs/database-roles.md, and apply",
        )
    weak = [*role.lacking, *_missing(tables)]
    if weak:
        raise Refused(
            "ledger.role-too-weak",
            f"the service's database role may do less than it needs: {_listed(weak)}",
            place=_PLACE,
            remedy="run `coordinatorctl apply`, which grants what is missing",
        )


async def _is_newer(pool: Pool, tables: Iterable[TableRights]) -> bool:
    """Whether the ledger has a migration that this program does not know.

    The service's role can not write one: the table of migrations lasts.
    """
    if not any(table.name == "migrations" and table.reads for table in tables):
        return False
    applied = await pool.ask(Question(_SQL["migrations"], {}, Applied))
    return bool({one.name for one in applied} - own_migrations())


def _lasts(table: TableRights) -> bool:
    """Whether rows of a table are never changed or deleted; no later program may either."""
    grant = GRANTS.get(table.name)
    lasting = grant is not None and not grant.update and not grant.delete
    return lasting or bool(table.further)


def _beyond(tables: Iterable[TableRights]) -> Iterator[str]:
    for table in tables:
        grant = GRANTS.get(table.name, Grant())
        if table.inserts and not grant.insert:
            yield f"insert into {table.name}"
        if table.deletes and not grant.delete:
            yield f"delete from {table.name}"
        yield from (f"update {table.name}.{c}" for c in table.updates if c not in grant.update)
        yield from (f"{right} {table.name}" for right in table.further)


def _missing(tables: Iterable[TableRights]) -> Iterator[str]:
    for table in tables:
        grant = GRANTS.get(table.name, Grant())
        if not table.reads:
            yield f"read {table.name}"
        if grant.insert and not table.inserts:
            yield f"insert into {table.name}"
        if grant.delete and not table.deletes:
            yield f"delete from {table.name}"
        yield from (f"update {table.name}.{c}" for c in sorted(grant.update - {*table.updates}))


def _listed(found: list[str]) -> str:
    more = len(found) - _MOST_NAMED
    named = "; ".join(found[:_MOST_NAMED])
    return f"{named}; and {more} more" if more > 0 else named
