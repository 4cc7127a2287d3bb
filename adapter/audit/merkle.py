"""Merkle trees over byte strings: root, audit path, and the root a path leads to (RFC 6962)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def root(leaves: Sequence[bytes]) -> bytes:
    """The tree head of one leaf or more, each given as its data."""
    return _root([_leaf(data) for data in leaves])


def path(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """The sibling hashes from a leaf up to the root."""
    return _path([_leaf(data) for data in leaves], index)


def root_of_path(leaf: bytes, index: int, size: int, siblings: Sequence[bytes]) -> bytes | None:
    """The root of ``size`` leaves that a leaf and its path lead to; None if they fit no tree."""
    if not 0 <= index < size:
        return None
    at, last, found = index, size - 1, _leaf(leaf)
    for sibling in siblings:
        if last == 0:
            return None
        if at % 2 or at == last:
            found = _node(sibling, found)
            while at and not at % 2:
                at, last = at >> 1, last >> 1
        else:
            found = _node(found, sibling)
        at, last = at >> 1, last >> 1
    return found if last == 0 else None


def _root(hashes: Sequence[bytes]) -> bytes:
    if len(hashes) == 1:
        return hashes[0]
    split = _split(len(hashes))
    return _node(_root(hashes[:split]), _root(hashes[split:]))


def _path(hashes: Sequence[bytes], index: int) -> list[bytes]:
    if len(hashes) == 1:
        return []
    split = _split(len(hashes))
    if index < split:
        return [*_path(hashes[:split], index), _root(hashes[split:])]
    return [*_path(hashes[split:], index - split), _root(hashes[:split])]


def _split(size: int) -> int:
    """The largest power of two below ``size``."""
    return 1 << ((size - 1).bit_length() - 1)


def _leaf(data: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + data).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()
