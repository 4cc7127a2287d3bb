"""The one pool of connections, its transactions, and the border where driver errors stop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import psycopg
from psycopg import AsyncConnection, AsyncCursor, AsyncPipeline
from psycopg.abc import Params, PQGen, Query
from psycopg.pq import TransactionStatus
from psycopg.rows import class_row
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout, TooManyRequests

from activities.errors import LedgerUnavailable
from adapter.errors import Unavailable

Row = TypeVar("Row", covariant=True)
OtherRow = TypeVar("OtherRow", covariant=True)
Answer = TypeVar("Answer")

_ACQUIRE_SECONDS = 5.0
# The driver doubles its pauses until it gives up, and whoever asks next has it begin anew: so a
# database that is back is found by the next question, however long it was away.
_RECONNECT_SECONDS = 4.0
_SETTLE_SECONDS = 60.0
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 2.0

# A commit that the server may forget would let an effect be sent twice (protocol rule 9), so a
# server default that does not wait for the disk or the standby is overruled here.
_DURABLE = b"""select set_config('synchronous_commit', 'on', false)
where current_setting('synchronous_commit') in ('off', 'local')"""

# A process that is stopped inside a transaction must not keep the lock of its run.
_IMPATIENT = b"set idle_in_transaction_session_timeout = '10s'"

# Who reads a long time holds no lock, and may be as slow as a pager.
_AT_LEISURE = b"""begin isolation level repeatable read read only;
set local idle_in_transaction_session_timeout = 0"""

# A database that is not the one that the ledger was written in is a restored copy of it: another
# cluster, another database, or another history of the same one. A history that a fail-over began is
# the same if a standby had confirmed every commit. What was lost with a copy may have been sent, so
# nothing is dispatched from it before a person has looked (protocol rule 9).
_OWN_PLACE = b"""update coordinator.control c
set restore_hold = true, admissions_hold = true, hold_code = 'ledger-moved',
    held_at = clock_timestamp(), review_begun_at = null, recovery_completed_at = null
from coordinator.watermark w, pg_control_system() s, pg_database d
where d.datname = current_database() and not c.restore_hold
  and (w.place <> s.system_identifier || '/' || d.oid || '/' || 'coordinator.control'::regclass::oid
       or (w.timeline <> left(pg_walfile_name(pg_current_wal_lsn()), 8) and not w.replicated))"""

# InternalError is how a session that idled too long or a demoted server answers.
_LOST = (psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError)

# What a database answers that is there and does not let this role write, or not any more.
_FORBIDDEN = (
    psycopg.errors.InsufficientPrivilege,
    psycopg.errors.CheckViolation,
    psycopg.errors.RaiseException,
)

_CONNECTION = {
    "application_name": "coordinator",
    # A single question then needs no transaction around it; the others say begin.
    "autocommit": True,
    # Whatever PGCLIENTENCODING says.
    "client_encoding": "UTF8",
    "connect_timeout": 5,
    # Of several hosts in the address, the one that takes writes.
    "target_session_attrs": "read-write",
    # A server that vanished without a word is noticed within seconds, not after two hours.
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}


class LedgerAway(LedgerUnavailable, Unavailable):
    """The database did not answer, or refused to write.

    ``ledger.unavailable``: whether it wrote is not known; ``ledger.write-refused``: it did not.
    """


@dataclass(frozen=True, slots=True)
class Question(Generic[Row]):
    """A query with its parameters, and the class its rows become."""

    sql: bytes
    parameters: Mapping[str, Any]
    row: type[Row]


@dataclass(frozen=True, slots=True)
class Write:
    """A statement whose rows nobody reads."""

    sql: bytes
    parameters: Mapping[str, Any]


class _QueuedCursor(AsyncCursor[Row]):
    """A cursor whose statements wait in a pipeline for the next sync, and travel with it.

    psycopg sends each of them by itself, and looks for answers meanwhile: a tenth of all that a
    worker did (docs/performance.md). There is no public way to say that nobody waits for them.
    """

    def _execute_gen(
        self,
        query: Query,
        params: Params | None = None,
        *,
        prepare: bool | None = None,
        binary: bool | None = None,
    ) -> PQGen[None]:
        pipeline = self._conn._pipeline
        if pipeline is None:
            yield from super()._execute_gen(query, params, prepare=prepare, binary=binary)
            return
        yield from self._start_query(query)
        prepared = self._convert_query(query, params)
        yield from self._maybe_prepare_gen(prepared, prepare=prepare, binary=binary)
        # libpq keeps what it is given until the sync, or until it is more than a buffer.
        while pipeline.command_queue:
            pipeline.command_queue.popleft()()
        self._last_query = query
        yield from self._conn._prepared.maintain_gen(self._conn)


class Transaction:
    """One transaction: questions first, then every write together with the commit.

    It runs in pipeline mode: what need not wait for an answer travels together, so a usual
    transaction takes two round trips. ``sure`` is true as long as nothing can have been committed,
    so that the whole transaction may be run again on another connection.
    """

    def __init__(self, connection: AsyncConnection[Any], pipeline: AsyncPipeline) -> None:
        self._connection = connection
        self._pipeline = pipeline
        self.sure = True

    async def ask(self, question: Question[Row]) -> list[Row]:
        """The rows of one question; its locks are held until the transaction ends."""
        cursor = await self._sent(question)
        await self._pipeline.sync()
        return await cursor.fetchall()

    async def one(self, question: Question[Row]) -> Row | None:
        """The only row, or None."""
        rows = await self.ask(question)
        return rows[0] if rows else None

    async def both(
        self, first: Question[Row], second: Question[OtherRow]
    ) -> tuple[Row | None, OtherRow | None]:
        """The only rows of two questions; the second sees what the first one's locks waited for."""
        one, other = await self._sent(first), await self._sent(second)
        # Only after a sync does the server know that the session idles, and end it if need be.
        await self._pipeline.sync()
        return await one.fetchone(), await other.fetchone()

    async def write(self, *writes: Write) -> None:
        """Carry out writes within the transaction; they stand only after ``commit``."""
        for write in writes:
            await self._connection.execute(write.sql, write.parameters)

    async def commit(self, *writes: Write) -> None:
        """Carry out the last writes and commit: the end of the work.

        It stands once the work's answer is given: the pipeline's own end waits for the server.
        """
        self.sure = False
        await self.write(*writes)
        await self._connection.execute(b"commit")

    async def _sent(self, question: Question[Row]) -> AsyncCursor[Row]:
        cursor = self._connection.cursor(row_factory=class_row(question.row))
        return await cursor.execute(question.sql, question.parameters)


class Snapshot:
    """One instant of the ledger, read in any number of questions."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def ask(self, question: Question[Row]) -> list[Row]:
        """The rows of one question."""
        async with self._connection.cursor(row_factory=class_row(question.row)) as cursor:
            await cursor.execute(question.sql, question.parameters)
            return await cursor.fetchall()

    async def stream(self, question: Question[Row]) -> AsyncIterator[Row]:
        """The rows of one question, however many, a thousand in memory at a time."""
        async with self._connection.cursor(
            name="stream", row_factory=class_row(question.row)
        ) as cursor:
            cursor.itersize = 1_000
            await cursor.execute(question.sql, question.parameters)
            async for row in cursor:
                yield row


class Pool:
    """Connections to the ledger's database; LedgerAway is its only error.

    A transaction whose connection breaks before its commit was sent is run once more on another
    connection, so a restarted server costs its clients nothing but the wait.
    """

    def __init__(self, url: str, size: int) -> None:
        self._connections = AsyncConnectionPool(
            url,
            min_size=min(2, size),
            max_size=size,
            open=False,
            timeout=_ACQUIRE_SECONDS,
            reconnect_timeout=_RECONNECT_SECONDS,
            configure=_configure,
            kwargs={**_CONNECTION, "cursor_factory": _QueuedCursor},
            name="ledger",
        )

    async def open(self) -> None:
        """Connect; LedgerAway when the database does not answer in time."""
        with _border():
            await self._connections.open(wait=True, timeout=_ACQUIRE_SECONDS)

    async def close(self) -> None:
        """End every connection."""
        await self._connections.close()

    async def run(self, work: Callable[[Transaction], Awaitable[Answer]]) -> Answer:
        """Do ``work`` in one transaction; what it did not commit is rolled back."""
        return await self._repeated(lambda connection: _transact(connection, work))

    async def ask(self, question: Question[Row]) -> list[Row]:
        """The rows of one question, a transaction by itself that is safe to repeat."""
        return await self._repeated(lambda connection: _rows(connection, question))

    async def one(self, question: Question[Row]) -> Row | None:
        """The only row of one question, or None."""
        rows = await self.ask(question)
        return rows[0] if rows else None

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Snapshot]:
        """The ledger as it stands now, to be read at leisure; nothing waits for the reader."""
        with _border():
            connection = await self._connections.getconn()
            try:
                await connection.execute(_AT_LEISURE)
                yield Snapshot(connection)
            finally:
                await _roll_back(connection)
                await self._connections.putconn(connection)

    async def through_failover(self, work: Callable[[Transaction], Awaitable[Answer]]) -> Answer:
        """Like ``run``, repeated for up to 60 seconds while the database is away.

        Only for writes that are idempotent (protocol rule 3: ``settle`` retries in memory).
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + _SETTLE_SECONDS
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                return await self.run(work)
            except LedgerUnavailable:
                if loop.time() + pause >= until or self._connections.closed:
                    raise
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    async def _repeated(self, work: Callable[[AsyncConnection[Any]], Awaitable[Answer]]) -> Answer:
        with _border():
            try:
                return await self._borrow(work)
            except _StillSure:
                # Whatever broke this connection broke its neighbours too.
                await self._connections.check()
            try:
                return await self._borrow(work)
            except _StillSure as error:
                raise _unavailable("the ledger's database did not answer") from error

    async def _borrow(self, work: Callable[[AsyncConnection[Any]], Awaitable[Answer]]) -> Answer:
        connection = await self._connections.getconn()
        try:
            return await work(connection)
        finally:
            await self._connections.putconn(connection)


async def _rows(connection: AsyncConnection[Any], question: Question[Row]) -> list[Row]:
    try:
        async with connection.cursor(row_factory=class_row(question.row)) as cursor:
            await cursor.execute(question.sql, question.parameters)
            return await cursor.fetchall()
    except _LOST as error:
        raise _StillSure from error


async def _transact(
    connection: AsyncConnection[Any], work: Callable[[Transaction], Awaitable[Answer]]
) -> Answer:
    transaction: Transaction | None = None
    try:
        async with connection.pipeline() as pipeline:
            transaction = Transaction(connection, pipeline)
            await connection.execute(b"begin")
            return await work(transaction)
    except _LOST as error:
        if transaction is None or transaction.sure:
            raise _StillSure from error
        raise
    finally:
        if connection.pgconn.transaction_status != TransactionStatus.IDLE:
            await _roll_back(connection)


async def _roll_back(connection: AsyncConnection[Any]) -> None:
    # A connection that can not roll back is broken, and the pool replaces it.
    with suppress(psycopg.Error):
        await connection.rollback()


class _StillSure(Exception):
    """The connection broke where repeating the work is safe."""


async def _configure(connection: AsyncConnection[Any]) -> None:
    await connection.execute(_DURABLE)
    await connection.execute(_IMPATIENT)
    # Before the migrations there is nothing to compare, and nothing to lose.
    with suppress(psycopg.ProgrammingError):
        await connection.execute(_OWN_PLACE)


@contextmanager
def _border() -> Iterator[None]:
    """Turn what the driver raises about reachability into the one error of this room."""
    try:
        yield
    except (PoolTimeout, PoolClosed, TooManyRequests) as error:
        raise _unavailable("the ledger's database gave no connection in time") from error
    except _LOST as error:
        raise _unavailable("the ledger's database did not answer") from error
    except _FORBIDDEN as error:
        raise LedgerAway(
            "ledger.write-refused",
            f"the ledger's database does not let this role write (SQLSTATE {error.sqlstate})",
            place="ledger",
            remedy="grant what the role needs with `coordinatorctl apply`, then repeat",
        ) from error


def _unavailable(message: str) -> LedgerAway:
    remedy = "look at the database server, then repeat: every request is safe to repeat"
    return LedgerAway("ledger.unavailable", message, place="ledger", remedy=remedy)
