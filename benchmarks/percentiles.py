"""The 99th percentile, from few values too."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import quantiles


def p99(values: Sequence[float]) -> float:
    """The 99th percentile by interpolation; the only value of one."""
    return quantiles(values, n=100, method="inclusive")[98] if len(values) > 1 else values[0]
