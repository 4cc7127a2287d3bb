"""What the service's role may do with each table: the least that its queries need, and no more.

Whoever adds a table or a query adds its grant here; `coordinatorctl apply` brings the database to
this table, and every start compares (see roles). A lock (`for update`, `for share`) needs the right
to update one column of its table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import psycopg
from psycopg import sql

from adapter.errors import Refused

SCHEMA: Final = "coordinator"


@dataclass(frozen=True, slots=True)
class Grant:
    """The right to read a table and, as far as named, to insert, update columns and delete."""

    insert: bool = False
    update: frozenset[str] = frozenset()
    delete: bool = False


def _may(*actions: str, update: str = "") -> Grant:
    return Grant("insert" in actions, frozenset(update.split()), "delete" in actions)


GRANTS: Final[dict[str, Grant]] = {
    "activations": _may(),
    "acts": _may(
        "insert",
        update="sealed_reason state outcome code deliveries due_at delivered_at concluded_at"
        " told_once",
    ),
    "attempts": _may("insert", update="settled_as code settled_at retry_at"),
    "chains": _may(update="sequence head"),
    "checkpoint_heads": _may("insert"),
    "checkpoints": _may("insert"),
    "control": _may(
        update="epoch epoch_started_at restore_hold admissions_hold hold_code"
        " held_at review_begun_at recovery_completed_at"
    ),
    "definitions": _may(),
    "effects": _may(
        "insert",
        update="generation sealed_command outcome code sealed_reply uncertain settled_at",
    ),
    "epochs": _may("insert"),
    "events": _may("insert"),
    "executions": _may(
        "insert",
        update="start_state start_code temporal_run_id started_at closing_state outcome"
        " failure_code failure_place sealed_output closed_at checked_at",
    ),
    "idempotency_keys": _may("insert"),
    "identity": _may("insert"),
    "inputs": _may("insert", "delete"),
    "journal": _may("insert"),
    "migrations": _may(),
    "notices": _may("insert", "delete", update="signed_at"),
    "packages": _may(),
    "payloads": _may("insert", "delete"),
    "reasons": _may("insert"),
    "receipts": _may("insert", update="sealed_receipt"),
    "reviews": _may("insert", update="marked_at cleared_at nudged_at"),
    "run_keys": _may("insert", update="wrapped_key"),
    "runs": _may(
        "insert",
        update="state cancel_requested_at event_sequence journal_sequence journal_head"
        " position_base erased_at",
    ),
    "signals": _may(
        "insert",
        update="sealed_payload state outcome visit deliveries due_at concluded_at told_once",
    ),
    "state_keys": _may("insert"),
    "steps": _may("insert", update="state outlet code recorded_at superseded"),
    "waits": _may(
        "insert",
        update="source_digest observations observed_at resolution resolved_at signal_id hints"
        " hints_read hints_told",
    ),
    "watermark": _may(
        update="counter marked_epoch marked_counter place timeline replicated ticked_at passed_at"
        " erased_before"
    ),
}
"""By table of the schema, every one of which has an entry."""

_STANDING = b"""
select c.relname::text,
       array(select x.privilege_type || case when x.is_grantable then '*' else '' end
             from aclexplode(c.relacl) x where x.grantee = r.oid),
       array(select x.privilege_type || case when x.is_grantable then '*' else '' end
                    || ' ' || a.attname
             from pg_attribute a, aclexplode(a.attacl) x
             where a.attrelid = c.oid and x.grantee = r.oid)
from pg_class c, pg_roles r
where c.relnamespace = 'coordinator'::regnamespace and c.relkind in ('r', 'p') and r.rolname = %s
union all
select '', array(select x.privilege_type::text
                 from aclexplode(n.nspacl) x where x.grantee = r.oid), '{}'
from pg_namespace n, pg_roles r
where n.nspname = 'coordinator' and r.rolname = %s
"""


async def grant_least(connection: psycopg.AsyncConnection[Any], role: str) -> bool:
    """Give a role exactly the table above within the open transaction; True if that was news.

    Rights that it has by another way (as owner, through a group, from PUBLIC) are left alone: a
    start refuses them. Refused ``ledger.role-unknown`` for a role that the server does not have.
    """
    cursor = await connection.execute(_STANDING, (role, role))
    rows = await cursor.fetchall()
    if not rows:
        raise Refused(
            "ledger.role-unknown",
            "the server has no role of this name for the service",
            place="database.runtimeRole",
            remedy="create it as docs/database-roles.md shows, then apply again",
        )
    standing = {name: {*whole, *columns} for name, whole, columns in rows}
    if standing == {"": {"USAGE"}, **{name: _rights(grant) for name, grant in GRANTS.items()}}:
        return False
    for statement in _statements(sql.Identifier(role)):
        await connection.execute(statement)
    return True


def _rights(grant: Grant) -> set[str]:
    """A grant in the words of PostgreSQL's access lists."""
    whole = {"SELECT"}
    if grant.insert:
        whole.add("INSERT")
    if grant.delete:
        whole.add("DELETE")
    return whole | {f"UPDATE {column}" for column in grant.update}


def _statements(role: sql.Identifier) -> list[sql.Composed]:
    schema = sql.Identifier(SCHEMA)
    made = [
        sql.SQL("revoke all on schema {} from {}").format(schema, role),
        sql.SQL("revoke all on all tables in schema {} from {}").format(schema, role),
        sql.SQL("grant usage on schema {} to {}").format(schema, role),
    ]
    for name, grant in GRANTS.items():
        rights: list[sql.Composable] = [sql.SQL("select")]
        rights += [sql.SQL("insert")] if grant.insert else []
        rights += [sql.SQL("delete")] if grant.delete else []
        if grant.update:
            columns = sql.SQL(", ").join(map(sql.Identifier, sorted(grant.update)))
            rights.append(sql.SQL("update ({})").format(columns))
        table = sql.Identifier(SCHEMA, name)
        given = sql.SQL(", ").join(rights)
        made.append(sql.SQL("grant {} on {} to {}").format(given, table, role))
    return made
