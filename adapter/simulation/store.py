"""What a simulation remembers between starts: answers by idempotency key, and completions."""

from __future__ import annotations

import json
import sqlite3
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from interpreter.contract.values import JsonValue

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
  operation TEXT NOT NULL, key TEXT NOT NULL, step TEXT NOT NULL, digest TEXT NOT NULL,
  output TEXT NOT NULL, PRIMARY KEY (operation, key)
) STRICT;
CREATE TABLE IF NOT EXISTS completions (
  id TEXT PRIMARY KEY, connection TEXT NOT NULL, wait TEXT NOT NULL, identity TEXT NOT NULL,
  reply TEXT NOT NULL, state TEXT NOT NULL, value TEXT NOT NULL, left_by_others INTEGER NOT NULL,
  opened_at REAL NOT NULL
) STRICT;
"""


MOST_SHOWN = 200


class Standing(StrEnum):
    """How an awaited result stands."""

    PENDING = "pending"
    COMPLETED = "completed"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The accepted answer to a key: for which step, to which request, with what output."""

    step: str
    digest: str
    output: JsonValue


@dataclass(frozen=True, slots=True)
class Awaited:
    """A result that a wait step waits for.

    ``identity`` are the members that a read of it has in its input; ``reply`` is what the call
    was answered. ``touched`` is set once another call was made about the same thing: then the
    wait is over. ``opened_at`` is in epoch seconds.
    """

    id: str
    connection: str
    wait: str
    identity: dict[str, JsonValue]
    reply: JsonValue
    standing: Standing
    value: JsonValue
    touched: bool
    opened_at: float


class Store:
    """Two tables in a file of their own."""

    def __init__(self, file: Path) -> None:
        # Written and read on one loop; a lost last write only means that a product forgot it.
        self._db = sqlite3.connect(file, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def answer(self, operation: str, key: str) -> StoredAnswer | None:
        """What a key was answered, if it was accepted."""
        query = "SELECT step, digest, output FROM answers WHERE operation = ? AND key = ?"
        row = self._db.execute(query, (operation, key)).fetchone()
        return None if row is None else StoredAnswer(row[0], row[1], json.loads(row[2]))

    def keep_answer(self, operation: str, key: str, answer: StoredAnswer) -> None:
        """Remember an accepted answer."""
        row = (operation, key, answer.step, answer.digest, json.dumps(answer.output))
        self._db.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", row)

    def keep_awaited(self, one: Awaited) -> None:
        """Remember an awaited result, in the place of an earlier one of the same id."""
        row = (
            *(one.id, one.connection, one.wait, json.dumps(one.identity), json.dumps(one.reply)),
            *(one.standing.value, json.dumps(one.value), int(one.touched), one.opened_at),
        )
        self._db.execute(
            "INSERT OR REPLACE INTO completions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row
        )

    def awaited(self, id: str) -> Awaited | None:
        """The awaited result of an id."""
        row = self._db.execute("SELECT * FROM completions WHERE id = ?", (id,)).fetchone()
        return None if row is None else _awaited(row)

    def latest_awaited(self) -> list[Awaited]:
        """Awaited results, newest first, as many as a person may want to see."""
        query = "SELECT * FROM completions ORDER BY opened_at DESC, id LIMIT ?"
        return [_awaited(row) for row in self._db.execute(query, (MOST_SHOWN,))]


def _awaited(row: tuple[Any, ...]) -> Awaited:
    id, connection, wait, identity, reply, standing, value, touched, opened_at = row
    return Awaited(
        *(id, connection, wait, json.loads(identity), json.loads(reply)),
        *(Standing(standing), json.loads(value), bool(touched), opened_at),
    )


def now() -> float:
    """Epoch seconds."""
    return time.time()
