"""The name that an author probably meant."""

from __future__ import annotations

from collections.abc import Iterable

_LONGEST = 64


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name within a third of the length of ``name`` in edits, or None.

    Case, ``_`` and ``-`` count as equal for the choice; ties go to the alphabetically first.
    """
    if not 0 < len(name) <= _LONGEST:
        return None
    wanted = _plain(name)
    allowed = max(1, len(wanted) // 3)
    best: tuple[int, str] | None = None
    for candidate in known:
        if len(candidate) > _LONGEST or abs(len(candidate) - len(name)) > allowed:
            continue
        found = (_distance(wanted, _plain(candidate)), candidate)
        if found[0] <= allowed and (best is None or found < best):
            best = found
    return best[1] if best else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """A remedy that names the nearest known name, or all of them when they are few, or ``""``."""
    names = sorted(known)
    meant = nearest(name, names)
    if meant is not None:
        return f"did you mean `{meant}`?"
    if 0 < len(names) <= 12:
        return "use one of " + ", ".join(f"`{one}`" for one in names)
    return ""


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


def _distance(left: str, right: str) -> int:
    """Edits (insert, delete, replace, swap of neighbours) between two short texts."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, one in enumerate(left, 1):
        current = [i]
        for j, other in enumerate(right, 1):
            cost = min(row[j] + 1, current[j - 1] + 1, row[j - 1] + (one != other))
            if i > 1 and j > 1 and one == right[j - 2] and left[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            current.append(cost)
        before, row = row, current
    return row[-1]
