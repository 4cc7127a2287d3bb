"""What reached the products: counters for each operation and a log of the latest requests."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from examples.products.store import timestamp

_LOG_LENGTH = 5_000


@dataclass(slots=True)
class Arrival:
    """One request as it came in, and what became of it.

    ``outcome`` is the status as text, ``dropped`` when the connection was closed without an
    answer, or ``open`` while it is being worked on. No body and no credential is kept.
    """

    operation: str
    method: str
    target: str
    key: str | None
    traceparent: str | None
    authorised: bool
    arrived_at: str = field(default_factory=timestamp)
    body_sha256: str = ""
    outcome: str = "open"
    fault: str | None = None

    def document(self) -> dict[str, Any]:
        """The arrival as the control route shows it."""
        return {
            "operation": self.operation,
            "method": self.method,
            "target": self.target,
            "key": self.key,
            "traceparent": self.traceparent,
            "authorised": self.authorised,
            "arrivedAt": self.arrived_at,
            "bodySha256": self.body_sha256,
            "outcome": self.outcome,
            "fault": self.fault,
        }


class Traffic:
    """The counters since the start or the last reset, and the last 5,000 arrivals."""

    def __init__(self) -> None:
        self._received: dict[str, int] = {}
        self._log: deque[Arrival] = deque(maxlen=_LOG_LENGTH)

    def note(self, arrival: Arrival) -> None:
        """Count a request that has just come in."""
        self._received[arrival.operation] = self._received.get(arrival.operation, 0) + 1
        self._log.append(arrival)

    def counters(self) -> dict[str, int]:
        """How many requests each operation has received."""
        return dict(self._received)

    def log(self, operation: str | None = None) -> list[dict[str, Any]]:
        """The latest arrivals, oldest first, of one operation if given."""
        return [a.document() for a in self._log if operation in (None, a.operation)]

    def clear(self) -> None:
        """Start counting anew."""
        self._received.clear()
        self._log.clear()
