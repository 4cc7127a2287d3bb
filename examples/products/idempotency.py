"""Idempotency keys, their stored answers, receipts, and the list of effects applied."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.responses import JSONResponse

from examples.products.problems import Problem
from examples.products.store import Store, timestamp

#: The header that marks an answer as the stored one of an earlier request.
REPLAYED = "idempotency-replayed"


@dataclass(frozen=True, slots=True)
class Applied:
    """The accepted answer of a command: its status, its body and the id of what it made.

    ``changed`` is false for a command that found everything already as asked.
    """

    status: int
    body: dict[str, Any]
    reference: str
    changed: bool = True


@dataclass(frozen=True, slots=True)
class Command:
    """One keyed request: the operation, its ``Idempotency-Key`` and the digest of its content."""

    operation: str
    key: str
    digest: str


class KeyBook:
    """Which keys were used, with what, and what was answered.

    Only accepted answers are stored: a refusal had no effect, so the same request is judged anew.
    """

    def __init__(self, store: Store, window_seconds: float) -> None:
        self._store = store
        self._window = window_seconds

    def accept(self, command: Command, apply: Callable[[], Applied]) -> JSONResponse:
        """Apply a command once, or give the answer that it got the first time.

        ``apply`` runs inside the transaction that stores key and effect; a ``Problem`` it raises
        leaves no trace. Raises ``Problem`` 409 ``idempotency-conflict`` for a key used with other
        content and 410 ``idempotency-expired`` after the receipt window.
        """
        with self._store.transaction():
            stored = self._stored(command)
            if stored is not None:
                return stored
            applied = apply()
            body = json.dumps(applied.body)
            self._store.run(
                "INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?)",
                command.operation,
                command.key,
                command.digest,
                applied.status,
                body,
                time.time() + self._window,
            )
            if applied.changed:
                self.record_effect(command, applied.reference)
        return JSONResponse(applied.body, applied.status)

    def receipt(self, command: Command) -> JSONResponse:
        """The stored answer of a command as 200; 404 ``receipt-unresolved`` if there is none.

        An unresolved receipt says that nothing is known, never that nothing was applied.
        """
        stored = self._stored(command)
        if stored is None:
            raise Problem(404, "receipt-unresolved", "No request with this key is on record.")
        stored.status_code = 200
        return stored

    def record_effect(self, command: Command, reference: str) -> None:
        """Note that an effect was applied; called once for each application."""
        self._store.run(
            "INSERT INTO effects (operation, key, digest, reference, applied_at)"
            " VALUES (?, ?, ?, ?, ?)",
            command.operation,
            command.key,
            command.digest,
            reference,
            timestamp(),
        )

    def effects(self, operation: str | None = None) -> list[dict[str, Any]]:
        """Every effect with the number of times it was applied, oldest first.

        An effect is one operation, key and digest; an evaluation has the empty key.
        """
        rows = self._store.all(
            "SELECT operation, key, digest, count(*) AS applied, min(applied_at) AS first,"
            " max(applied_at) AS last, group_concat(reference) AS refs FROM effects"
            " WHERE ? IN ('*', operation) GROUP BY operation, key, digest ORDER BY min(position)",
            operation or "*",
        )
        return [
            {
                "operation": row["operation"],
                "key": row["key"],
                "digest": row["digest"],
                "applied": row["applied"],
                "references": row["refs"].split(","),
                "firstAppliedAt": row["first"],
                "lastAppliedAt": row["last"],
            }
            for row in rows
        ]

    def expire(self, operation: str = "*") -> int:
        """End the receipt window of every key of an operation now; the number of keys."""
        return self._store.run(
            "UPDATE keys SET expires_at = 0 WHERE ? IN ('*', operation)", operation
        )

    def forget(self, operation: str = "*") -> int:
        """Forget every key of an operation, so that a repeated command is applied again."""
        return self._store.run("DELETE FROM keys WHERE ? IN ('*', operation)", operation)

    def _stored(self, command: Command) -> JSONResponse | None:
        row = self._store.one(
            "SELECT * FROM keys WHERE operation = ? AND key = ?", command.operation, command.key
        )
        if row is None:
            return None
        if row["digest"] != command.digest:
            raise Problem(
                409, "idempotency-conflict", "This key was used with other content; use a new key."
            )
        if row["expires_at"] <= time.time():
            raise Problem(410, "idempotency-expired", "The receipt window of this key is over.")
        return JSONResponse(json.loads(row["body"]), row["status"], headers={REPLAYED: "true"})
