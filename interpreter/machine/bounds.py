"""How much data one step may carry, and a whole run (Temporal refuses or hangs on more)."""

from __future__ import annotations

import json

from interpreter.contract.values import JsonValue

LARGEST_STEP_BYTES = 262_144

LARGEST_KEPT_BYTES = 6_291_456
"""Of the outputs that a run keeps, as they are written: with its signals, its input and an open
plan they fit into the one sealed payload by which a run continues as new. A project's 64 steps
with answers of 64 KiB each are within it."""


def fits_in_a_step(value: JsonValue) -> bool:
    """True when the value's JSON is at most 256 KiB."""
    return len(json.dumps(value, ensure_ascii=False).encode()) <= LARGEST_STEP_BYTES


def written_size(value: JsonValue) -> int:
    """How many bytes a value takes in a payload."""
    return len(json.dumps(value, separators=(",", ":")))
