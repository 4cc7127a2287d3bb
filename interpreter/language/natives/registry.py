"""The register of native functions: by name and types, with ``ANY`` for a parameter of any type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from interpreter.language.values import Value

NativeRun: TypeAlias = Callable[..., Value]


class ANY:
    """Stands for any type among the types of a parameter list."""


class Native:
    """A native function.

    ``is_method``: it works on the first argument itself and not on a copy. ``is_pure``: it may be
    called on a constant. ``run(run, place, *arguments)`` gives the value.
    """

    __slots__ = ("is_method", "is_pure", "run", "types")

    def __init__(
        self, types: tuple[type, ...], run: NativeRun, *, is_method: bool, is_pure: bool
    ) -> None:
        self.types = types
        self.run = run
        self.is_method = is_method
        self.is_pure = is_pure


class _Name:
    """All functions of one name, and the answers given so far."""

    __slots__ = ("found", "overloads")

    def __init__(self) -> None:
        self.overloads: list[Native] = []
        self.found: dict[tuple[type, ...], Native | None] = {}


_NAMES: Final[dict[str, _Name]] = {}


def native(
    *names: str,
    types: tuple[type, ...],
    is_method: bool = False,
    is_pure: bool = True,
) -> Callable[[NativeRun], NativeRun]:
    """Register a function under its names. A method that changes its object is not pure."""

    def register(run: NativeRun) -> NativeRun:
        for name in names:
            entry = _NAMES.setdefault(name, _Name())
            entry.overloads.append(Native(types, run, is_method=is_method, is_pure=is_pure))
        return run

    return register


def find(name: str, arguments: list[Value]) -> Native | None:
    """The function for these arguments: exact types first, then ``ANY`` from the last one on."""
    entry = _NAMES.get(name)
    if entry is None:
        return None
    types = tuple(map(type, arguments))
    if types not in entry.found:
        entry.found[types] = _match(entry.overloads, types)
    return entry.found[types]


def _match(overloads: list[Native], types: tuple[type, ...]) -> Native | None:
    best: Native | None = None
    least = 0
    for candidate in overloads:
        rank = _rank(candidate.types, types)
        if rank is not None and (best is None or rank < least):
            best, least = candidate, rank
    return best


def _rank(wanted: tuple[Any, ...], types: tuple[type, ...]) -> int | None:
    """How late the engine tries this overload, or None when it does not fit."""
    if len(wanted) != len(types):
        return None
    rank = 0
    for want, kind in zip(wanted, types, strict=True):
        rank *= 2
        if want is ANY:
            rank += 1
        elif want is not kind:
            return None
    return rank
