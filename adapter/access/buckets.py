"""Token buckets: how much one caller or address may do in a while, counted in this process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

MOST_BUCKETS = 10_000


class Buckets:
    """A bucket for each name, full at first; names that were not seen for long are forgotten.

    ``per_second`` flows in, ``burst`` fits in; ``ticks`` is a monotonic clock in seconds.
    """

    def __init__(self, per_second: float, burst: int, ticks: Callable[[], float]) -> None:
        self._rate = per_second
        self._burst = burst
        self._ticks = ticks
        self._levels: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def take(self, name: Hashable) -> float:
        """Take one from a bucket: 0.0, or the seconds until there is one again."""
        now = self._ticks()
        level, at = self._levels.pop(name, (float(self._burst), now))
        level = min(float(self._burst), level + (now - at) * self._rate)
        wait = 0.0 if level >= 1 else (1 - level) / self._rate
        self._levels[name] = (level if wait else level - 1, now)
        if len(self._levels) > MOST_BUCKETS:
            self._levels.popitem(last=False)
        return wait
