"""Whether a product has been slow or down lately: then local attempts would hold others up."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

SLOW_SECONDS = 0.5
OPENS_AFTER = 3
FIRST_PAUSE_SECONDS = 5.0
LONGEST_PAUSE_SECONDS = 60.0


@dataclass(slots=True)
class _Health:
    bad_in_a_row: int = 0
    pause: float = FIRST_PAUSE_SECONDS
    closed_at: float = 0.0


class Breaker:
    """Counts bad exchanges in a row per connection (protocol rule 6).

    After three of them, local attempts pause for 5 s; if the next exchange after a pause is bad
    again the pause doubles, up to a minute. A good exchange forgets everything.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._health: dict[str, _Health] = {}

    def allows_local(self, connection: str) -> bool:
        """Whether a local attempt on this connection may be made now."""
        health = self._health.get(connection)
        return health is None or self._clock() >= health.closed_at

    def record(self, connection: str, seconds: float, *, answered: bool) -> None:
        """Note one exchange: how long it took, and whether the product answered at all."""
        if answered and seconds < SLOW_SECONDS:
            self._health.pop(connection, None)
            return
        health = self._health.setdefault(connection, _Health())
        health.bad_in_a_row += 1
        if health.bad_in_a_row < OPENS_AFTER or self._clock() < health.closed_at:
            return
        health.closed_at = self._clock() + health.pause
        health.pause = min(health.pause * 2, LONGEST_PAUSE_SECONDS)
