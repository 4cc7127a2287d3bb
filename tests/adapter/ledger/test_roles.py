"""Database roles: each table has its grant; a start refuses a role that may do more or less."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql as statements

from activities.errors import LedgerUnavailable
from adapter.crypto import KeyRing, Sealer
from adapter.embedded import OWNER_ROLE, SERVICE_ROLE
from adapter.errors import Refused
from adapter.ledger import Ledger, Migrated, migrate, role_of
from adapter.ledger.grants import GRANTS, Grant
from tests.adapter.ledger.words import admission

Sql = Callable[..., Awaitable[list[Any]]]
KEYS = KeyRing.generate()


async def refusal(url: str) -> tuple[str, str]:
    """The code and message with which a start is refused."""
    with pytest.raises(Refused) as refused:
        await Ledger.open(url, Sealer(KEYS, "test"), KEYS, pool_size=1)
    return refused.value.code, refused.value.message


async def test_every_table_and_column_of_a_grant_exists_and_every_table_has_one(sql: Sql) -> None:
    rows = await sql(
        "select table_name::text, array_agg(column_name::text) from information_schema.columns"
        " where table_schema = 'coordinator' group by 1"
    )
    columns = {table: set(names) for table, names in rows}
    assert columns.keys() == GRANTS.keys()
    assert all(grant.update <= columns[table] for table, grant in GRANTS.items())


def test_the_journal_and_what_proves_it_can_only_be_added_to() -> None:
    tables = ("journal", "checkpoints", "checkpoint_heads", "idempotency_keys", "events")
    more = ("epochs", "state_keys", "identity", "reasons")
    for table in (*tables, *more):
        assert (GRANTS[table].insert, GRANTS[table].delete) == (True, False)
        assert not GRANTS[table].update


def test_what_is_admitted_can_only_be_read() -> None:
    for table in ("activations", "definitions", "migrations", "packages"):
        assert GRANTS[table] == Grant()


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("grant delete on coordinator.journal to {role}", "delete from journal"),
        ("grant update on coordinator.journal to {role}", "update journal.chain"),
        ("grant truncate on coordinator.journal to {role}", "truncate journal"),
        ("grant update (root) on coordinator.checkpoints to {role}", "update checkpoints.root"),
        ("grant insert on coordinator.migrations to public", "insert into migrations"),
        ("grant trigger on coordinator.runs to {role}", "trigger runs"),
        ("grant references (chain) on coordinator.journal to {role}", "references journal"),
        ("grant update (hash) on coordinator.journal to public", "update journal.hash"),
        ("grant select on coordinator.runs to {role} with grant option", "pass on select runs"),
        (
            "create function public.wipe() returns void language sql security definer as ''",
            "may call wipe() as the owner",
        ),
        (
            "create view a as select * from coordinator.journal; grant delete on a to {role}",
            "may write through a",
        ),
        ("grant create on schema coordinator to {role}", "may create in the schema"),
        ("grant create on database {database} to {role}", "may create schemas"),
    ],
)
async def test_a_role_that_may_do_more_is_refused(
    database_url: str, sql: Sql, statement: str, named: str
) -> None:
    await sql(statement.format(role=SERVICE_ROLE, database=database_url.rpartition("/")[2]))
    code, message = await refusal(database_url)
    assert code == "ledger.role-too-strong"
    assert named in message


_NEWER = "insert into coordinator.migrations values ('9999_later', 'digest')"
_LATER = (
    "create table coordinator.later (id integer)",
    f"grant insert, select on coordinator.later to {SERVICE_ROLE}",
    f"grant update (workflow) on coordinator.runs to {SERVICE_ROLE}",
)


async def test_an_older_program_goes_on_in_a_ledger_that_a_newer_one_has_migrated(
    database_url: str, sql: Sql
) -> None:
    for statement in _LATER:
        await sql(statement)
    assert (await refusal(database_url))[0] == "ledger.role-too-strong"
    await sql(_NEWER)
    async with await Ledger.open(database_url, Sealer(KEYS, "test"), KEYS, pool_size=1):
        pass


@pytest.mark.parametrize(
    "statement",
    [
        "grant delete on coordinator.journal to {role}",
        "grant insert on coordinator.migrations to {role}",
        "grant truncate on coordinator.runs to {role}",
        "grant create on schema coordinator to {role}",
    ],
)
async def test_no_newer_program_may_change_what_lasts(
    database_url: str, sql: Sql, statement: str
) -> None:
    await sql(_NEWER)
    await sql(statement.format(role=SERVICE_ROLE))
    assert (await refusal(database_url))[0] == "ledger.role-too-strong"


async def test_the_owner_of_the_schema_is_refused_as_the_services_role(owner_url: str) -> None:
    code, message = await refusal(owner_url)
    assert code == "ledger.role-too-strong"
    assert "owns the schema" in message


@pytest.fixture
def another_role(admin_url: str, database_url: str) -> Iterator[Callable[[str], str]]:
    """Makes a role with an attribute of the server; gives the database's address for it."""
    name = f"role_of_{database_url.rpartition('/')[2]}"
    role = statements.Identifier(name)

    def make(attribute: str) -> str:
        with psycopg.connect(admin_url) as admin:
            password = statements.Literal(admin.info.password)
            made = statements.SQL("create role {} login password {}")
            admin.execute(made.format(role, password))
            admin.execute(attribute.format(role=name).encode())
        return database_url.replace(f"//{SERVICE_ROLE}:", f"//{name}:")

    yield make
    with psycopg.connect(admin_url) as admin:
        admin.execute(statements.SQL("drop role if exists {}").format(role))


async def test_a_right_that_may_be_passed_on_is_taken_back(
    database_url: str, owner_url: str, sql: Sql
) -> None:
    await sql(f"grant select on coordinator.runs to {SERVICE_ROLE} with grant option")
    await migrate(owner_url, SERVICE_ROLE)
    async with await Ledger.open(database_url, Sealer(KEYS, "test"), KEYS, pool_size=1):
        pass


@pytest.fixture
def group(admin_url: str, database_url: str) -> Iterator[Callable[[str], str]]:
    """Makes a role that others may be members of; gives its name."""
    name = f"group_of_{database_url.rpartition('/')[2]}"

    def make(attribute: str) -> str:
        with psycopg.connect(admin_url) as admin:
            admin.execute(f"create role {name} {attribute}".encode())
        return name

    yield make
    with psycopg.connect(admin_url) as admin:
        admin.execute(f"drop role if exists {name}".encode())


@pytest.mark.parametrize("inherited", ["true", "false"])
@pytest.mark.parametrize(
    ("attribute", "named"),
    [("superuser", "is a superuser"), ("createrole", "may create roles")],
)
async def test_what_a_role_could_become_counts_as_its_own(
    another_role: Callable[[str], str],
    group: Callable[[str], str],
    attribute: str,
    named: str,
    inherited: str,
) -> None:
    made = group(attribute)
    url = another_role(f"grant {made} to {{role}} with inherit {inherited}")
    code, message = await refusal(url)
    assert code == "ledger.role-too-strong"
    assert named in message


async def test_a_group_whose_rights_are_not_inherited_is_refused(
    another_role: Callable[[str], str], group: Callable[[str], str]
) -> None:
    made = group("nologin")
    code, message = await refusal(another_role(f"grant {made} to {{role}} with inherit false"))
    assert code == "ledger.role-too-strong"
    assert f"may become {made}" in message


@pytest.mark.parametrize(
    ("attribute", "named"),
    [
        ("alter role {role} superuser", "is a superuser"),
        ("alter role {role} createrole", "may create roles"),
        ("alter role {role} createdb", "may create databases"),
        ("alter role {role} bypassrls", "passes by row security"),
        ("alter role {role} replication", "may replicate"),
        (f"grant {OWNER_ROLE} to {{role}}", "owns the schema"),
        ("grant pg_write_all_data to {role}", "is a member of pg_write_all_data"),
        ("grant pg_execute_server_program to {role}", "is a member of pg_execute_server_program"),
    ],
)
async def test_a_role_with_powers_over_the_server_is_refused(
    another_role: Callable[[str], str], attribute: str, named: str
) -> None:
    code, message = await refusal(another_role(attribute))
    assert code == "ledger.role-too-strong"
    assert named in message


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("revoke insert on coordinator.journal from {role}", "insert into journal"),
        ("revoke update (state) on coordinator.runs from {role}", "update runs.state"),
        ("revoke select on coordinator.events from {role}", "read events"),
        ("revoke delete on coordinator.notices from {role}", "delete from notices"),
        ("revoke usage on schema coordinator from {role}", "use the schema"),
    ],
)
async def test_a_role_that_may_do_less_is_refused_and_apply_helps(
    database_url: str, owner_url: str, sql: Sql, statement: str, named: str
) -> None:
    await sql(statement.format(role=SERVICE_ROLE))
    code, message = await refusal(database_url)
    assert code == "ledger.role-too-weak"
    assert named in message
    assert await migrate(owner_url, SERVICE_ROLE) == Migrated([], True)
    async with await Ledger.open(database_url, Sealer(KEYS, "test"), KEYS, pool_size=1):
        pass


async def test_apply_takes_back_what_the_role_has_too_much(
    database_url: str, owner_url: str, sql: Sql
) -> None:
    await sql(f"grant all on all tables in schema coordinator to {SERVICE_ROLE}")
    assert await migrate(owner_url, SERVICE_ROLE) == Migrated([], True)
    async with await Ledger.open(database_url, Sealer(KEYS, "test"), KEYS, pool_size=1):
        pass


async def test_a_grant_is_journalled(owner_url: str, sql: Sql) -> None:
    await sql(f"revoke insert on coordinator.journal from {SERVICE_ROLE}")
    await migrate(owner_url, SERVICE_ROLE)
    rows = await sql("select kind, detail from coordinator.journal order by sequence desc limit 1")
    assert rows == [("schema.migrated", {"migrations": [], "granted": True})]


async def test_a_role_that_is_not_there_is_named_in_the_error(owner_url: str) -> None:
    with pytest.raises(Refused) as refused:
        await migrate(owner_url, "nobody_at_all")
    assert refused.value.code == "ledger.role-unknown"


async def test_a_ledger_older_than_the_program_is_refused(database_url: str, sql: Sql) -> None:
    await sql("drop table coordinator.notices")
    assert (await refusal(database_url))[0] == "ledger.outdated"


async def test_a_journal_that_takes_no_record_stops_admission(ledger: Ledger, sql: Sql) -> None:
    await sql(f"revoke insert on coordinator.journal from {SERVICE_ROLE}")
    with pytest.raises(LedgerUnavailable):
        await ledger.admissions.admit(admission("key-9"))
    assert await sql("select from coordinator.runs") == []


@pytest.mark.parametrize("statement", ["delete from", "update", "truncate"])
async def test_the_service_can_not_change_the_journal(
    ledger: Ledger, database_url: str, statement: str
) -> None:
    rest = " set kind = 'other'" if statement == "update" else ""
    async with await psycopg.AsyncConnection.connect(database_url) as service:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await service.execute(f"{statement} coordinator.journal{rest}".encode())


@pytest.mark.parametrize(
    ("url", "role"),
    [
        ("postgresql://one:secret@host/db", "one"),
        ("host=/run user=two dbname=db", "two"),
        ("postgresql://host/db", ""),
    ],
)
def test_the_role_of_an_address(url: str, role: str) -> None:
    assert role_of(url) == role
