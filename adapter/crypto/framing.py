"""Length-prefixed parts: one byte string for a list, so that no two lists read alike."""

from __future__ import annotations


def framed(label: bytes, *parts: str | bytes) -> bytes:
    """``label`` and each part, every one preceded by its length as eight bytes, big-endian."""
    pieces = [len(label).to_bytes(8, "big"), label]
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        pieces += (len(data).to_bytes(8, "big"), data)
    return b"".join(pieces)
