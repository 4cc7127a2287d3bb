"""The pool: lost connections, fail-over, and commits whose fate is not known."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from activities.errors import LedgerUnavailable
from adapter.crypto import KeyRing, Sealer
from adapter.errors import Unavailable
from adapter.ledger import Ledger, queries
from adapter.ledger.pool import Question, Transaction, Write
from adapter.ledger.runs import Counted
from tests.adapter.ledger.words import accepted, admission, answer, claim, dispatch, effect, read

Sql = Callable[..., Awaitable[list[Any]]]
Cut = Callable[[], Awaitable[None]]

CUT_AT_COMMIT = (
    "create function coordinator.cut() returns trigger language plpgsql as"
    " $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;"
    " create constraint trigger cut after insert on coordinator.attempts"
    " deferrable initially deferred for each row execute function coordinator.cut()"
)


@pytest.fixture
def cut(database_url: str, admin_url: str) -> Cut:
    """Ends every session of the ledger, as an administrator can."""
    ended = (
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where application_name = 'coordinator' and datname = %s"
    )

    async def end() -> None:
        async with await psycopg.AsyncConnection.connect(admin_url) as admin:
            await admin.execute(ended, [database_url.rpartition("/")[2]])

    return end


async def test_a_cut_connection_costs_a_caller_nothing(
    ledger: Ledger, run_id: str, cut: Cut
) -> None:
    await cut()
    assert await ledger.effects.read_outcome(read(effect(run_id))) == accepted()
    await cut()
    assert (await ledger.reads.run_status(run_id, None)).run_id == run_id


async def test_a_commit_whose_fate_is_unknown_is_withdrawn_by_its_token(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    await sql(CUT_AT_COMMIT)
    first = claim(effect(run_id))
    with pytest.raises(LedgerUnavailable) as lost:
        await ledger.effects.claim(first)
    assert (lost.value.code, isinstance(lost.value, Unavailable)) == ("ledger.unavailable", True)
    await sql("drop trigger cut on coordinator.attempts")
    await ledger.effects.withdraw(first.effect, first.token)
    assert not (await dispatch(ledger, claim(effect(run_id)))).unresolved


async def test_a_key_counts_only_once_its_admission_stands(
    ledger: Ledger, sql: Sql, database_url: str, keys: KeyRing
) -> None:
    await sql(CUT_AT_COMMIT.replace("coordinator.attempts", "coordinator.runs"))
    with pytest.raises(LedgerUnavailable):
        await ledger.admissions.admit(admission())
    await sql("drop trigger cut on coordinator.runs")
    async with await Ledger.open(database_url, Sealer(keys, "test"), keys) as other:
        admitted = await other.admissions.admit(admission())
        assert admitted.created
        sealed = (await other.run_keys.of(admitted.run_id)).seal({"a": 1}, "test")
    here = await ledger.run_keys.of(admitted.run_id)
    assert here.open(sealed, "test") == {"a": 1}


async def test_a_write_that_fails_at_the_end_is_the_caller_s_error(
    ledger: Ledger, sql: Sql
) -> None:
    await sql("create table coordinator.once (id int unique deferrable initially deferred)")
    await sql("grant select, insert on coordinator.once to public")

    async def work(transaction: Transaction) -> str:
        await transaction.commit(Write(b"insert into coordinator.once values (1)", {}))
        return "written"

    assert await ledger._pool.run(work) == "written"
    with pytest.raises(psycopg.errors.UniqueViolation):
        await ledger._pool.run(work)
    assert await sql("select id from coordinator.once") == [(1,)]


async def test_settle_keeps_trying_through_a_failover(
    ledger: Ledger, run_id: str, database_url: str, admin_url: str, cut: Cut
) -> None:
    sent = claim(effect(run_id))
    await dispatch(ledger, sent)
    name = database_url.rpartition("/")[2]
    admin = await psycopg.AsyncConnection.connect(admin_url, autocommit=True)
    async with admin:
        await admin.execute(f'alter database "{name}" allow_connections false'.encode())
        await cut()
        work = asyncio.create_task(ledger.effects.settle(answer(sent, accepted(1))))
        await asyncio.sleep(1)
        assert not work.done()
        await admin.execute(f'alter database "{name}" allow_connections true'.encode())
    assert await work == accepted(1)


async def test_a_database_that_is_back_is_found_at_once_however_long_it_was_away(
    ledger: Ledger, run_id: str, database_url: str, admin_url: str, cut: Cut
) -> None:
    name = database_url.rpartition("/")[2]
    admin = await psycopg.AsyncConnection.connect(admin_url, autocommit=True)
    async with admin:
        await admin.execute(f'alter database "{name}" allow_connections false'.encode())
        await cut()
        with pytest.raises(LedgerUnavailable):
            await ledger.reads.run_status(run_id, None)
        await asyncio.sleep(3.5)
        await admin.execute(f'alter database "{name}" allow_connections true'.encode())
    assert (await ledger.reads.run_status(run_id, None)).run_id == run_id


async def test_a_server_that_is_away_is_one_clear_error() -> None:
    keys = KeyRing.generate()
    with pytest.raises(LedgerUnavailable) as refusal:
        await Ledger.open("postgresql://u:secret@127.0.0.1:1/none", Sealer(keys, "test"), keys)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("setting", "value"),
    [("synchronous_commit", "on"), ("idle_in_transaction_session_timeout", "10s")],
)
async def test_a_session_is_durable_and_lets_go_whatever_the_server_prefers(
    database_url: str, sql: Sql, keys: KeyRing, setting: str, value: str
) -> None:
    name = database_url.rpartition("/")[2]
    await sql(f'alter database "{name}" set synchronous_commit = off')
    async with await Ledger.open(database_url, Sealer(keys, "test"), keys) as opened:
        connection = await opened._pool._connections.getconn()
        shown = await (await connection.execute(f"show {setting}".encode())).fetchone()
        await opened._pool._connections.putconn(connection)
    assert shown == (value,)


async def test_a_session_that_idles_in_a_transaction_is_one_clear_error(ledger: Ledger) -> None:
    async def work(transaction: Transaction) -> None:
        await transaction.write(Write(b"set local idle_in_transaction_session_timeout = 50", {}))
        await transaction.ask(Question(b"select 1 as observations, false as hinted", {}, Counted))
        await asyncio.sleep(0.5)
        await transaction.commit(Write(b"select 1", {}))

    with pytest.raises(LedgerUnavailable):
        await ledger._pool.run(work)


async def test_a_demoted_server_is_one_clear_error(
    ledger: Ledger, run_id: str, sql: Sql, database_url: str, cut: Cut
) -> None:
    name = database_url.rpartition("/")[2]
    await sql(f'alter database "{name}" set default_transaction_read_only = on')
    await cut()
    with pytest.raises(LedgerUnavailable):
        await ledger.effects.claim(claim(effect(run_id)))


async def test_settle_gives_up_at_once_when_the_process_shuts_down(
    ledger: Ledger, run_id: str
) -> None:
    sent = claim(effect(run_id))
    await dispatch(ledger, sent)
    await ledger.close()
    with pytest.raises(LedgerUnavailable):
        await asyncio.wait_for(ledger.effects.settle(answer(sent, accepted())), 5)


async def test_a_cancelled_caller_gives_its_connection_back(
    ledger: Ledger, run_id: str, owner_url: str
) -> None:
    async with await psycopg.AsyncConnection.connect(owner_url) as other:
        await other.execute("select from coordinator.runs for update")
        tasks = [asyncio.create_task(ledger.effects.claim(claim(effect(run_id)))) for _ in range(4)]
        await asyncio.sleep(0.3)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert (await dispatch(ledger, claim(effect(run_id)))).attempt == 1


def test_every_query_has_a_name_of_its_own_and_a_sentence() -> None:
    for family in ("admissions", "control", "effects", "packages", "reads", "runs", "waits"):
        found = queries.queries(family)
        assert found
        assert all(b"-- " not in text for text in found.values())


async def test_the_statements_of_a_transaction_travel_together(
    ledger: Ledger, run_id: str, keys: KeyRing, database_url: str
) -> None:
    """A read has seven statements, each of which psycopg would send by itself."""
    with Relay(database_url) as relay:
        async with await Ledger.open(relay.url, Sealer(keys, "test"), keys, pool_size=1) as far:
            fewest = 100
            for visit in range(1, 12):
                before = relay.sent
                await far.effects.read_outcome(read(effect(run_id, visit=visit)))
                fewest = min(fewest, relay.sent - before)
    assert fewest <= 4


class Relay:
    """Stands before the database's server, on threads, and counts what a client sends at once."""

    def __init__(self, database_url: str) -> None:
        self._target = conninfo_to_dict(database_url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.sent = 0

    @property
    def url(self) -> str:
        """The database's address by way of here."""
        port = self._listener.getsockname()[1]
        return make_conninfo(**{**self._target, "host": "127.0.0.1", "port": port})

    def __enter__(self) -> Relay:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                to = (str(self._target["host"]), int(self._target["port"] or 0))
                server = socket.create_connection(to)
                for ends in ((client, server, 1), (server, client, 0)):
                    threading.Thread(target=self._pass, args=ends, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, counted: int) -> None:
        with suppress(OSError), target:
            while piece := source.recv(65_536):
                self.sent += counted
                target.sendall(piece)
