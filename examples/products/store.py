"""The memory of the pretend products: one SQLite database and the transactions on it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_SCHEMA = Path(__file__).with_name("schema.sql")
_TABLES = (
    "records",
    "keys",
    "effects",
    "reviews",
    "webhook_targets",
    "deliveries",
    "appointments",
    "scripted_answers",
    "directory",
    "tokens",
    "assertions",
    "grants",
    "marks",
)


def timestamp(moment: datetime | None = None) -> str:
    """An instant (now by default) as RFC 3339 in UTC with milliseconds and ``Z``."""
    moment = moment or datetime.now(UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Store:
    """One connection, used from the event loop's thread only.

    Every statement is short, so calling it from a coroutine is cheaper than a hop to a thread.
    """

    def __init__(self, directory: Path | None) -> None:
        """Open ``products.sqlite3`` in ``directory`` (made if missing), or memory for ``None``."""
        target = ":memory:"
        if directory is not None:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            target = str(directory / "products.sqlite3")
        self._connection = sqlite3.connect(target, isolation_level=None, check_same_thread=False)
        self._connection.row_factory = sqlite3.Row
        # A write-ahead log without a sync survives the death of the process, which is all that
        # is promised; the death of the machine is not.
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.executescript(_SCHEMA.read_text(encoding="utf-8"))

    def run(self, statement: str, *values: Any) -> int:
        """Execute a change and return the number of rows it touched."""
        return self._connection.execute(statement, values).rowcount

    def one(self, statement: str, *values: Any) -> sqlite3.Row | None:
        """The first row of a query, or ``None``."""
        row: sqlite3.Row | None = self._connection.execute(statement, values).fetchone()
        return row

    def all(self, statement: str, *values: Any) -> list[sqlite3.Row]:
        """Every row of a query."""
        return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside is kept together, or not at all when it raises. Not re-entrant."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def clear(self) -> None:
        """Forget everything."""
        with self.transaction():
            for table in _TABLES:
                self.run(f"DELETE FROM {table}")

    def close(self) -> None:
        """Close the database; the store can not be used afterwards."""
        self._connection.close()
