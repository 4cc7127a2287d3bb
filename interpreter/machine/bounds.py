"""How much data one step may carry (Temporal refuses or hangs on more, see the docs)."""

from __future__ import annotations

import json

from interpreter.contract.values import JsonValue

LARGEST_STEP_BYTES = 262_144


def fits_in_a_step(value: JsonValue) -> bool:
    """True when the value's JSON is at most 256 KiB."""
    return len(json.dumps(value, ensure_ascii=False).encode()) <= LARGEST_STEP_BYTES
