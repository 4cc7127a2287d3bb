"""Sorting of arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import Any

from interpreter.language.failures import unknown_function
from interpreter.language.natives.registry import native
from interpreter.language.values import Character, Value, full_type_name

Array = list[Value]
Order = Callable[[Value, Value], int]

_INSERTION = 20
"""Up to this many items the engine inserts one after the other."""

_SORTABLE = (int, Character, float, str, bool)


def sort_by(array: Array, order: Order) -> None:
    """Sort in place, stably, asking for the order as the engine does for few items."""
    if len(array) > _INSERTION:
        array[:] = sorted(array, key=cmp_to_key(order))
        return
    for index in range(1, len(array)):
        item = array[index]
        at = index
        while at and order(item, array[at - 1]) < 0:
            array[at] = array[at - 1]
            at -= 1
        array[at] = item


def _compared(x: Value, y: Value) -> int:
    return int(x > y) - int(x < y)


def _compared_characters(x: str, y: str) -> int:
    return _compared(str(x), str(y))


def _sort_plain(array: Array, descending: bool) -> None:
    if len(array) <= 1:
        return
    kind = type(array[0])
    if any(type(item) is not kind for item in array):
        raise unknown_function("elements of different types cannot be sorted")
    if array[0] is None:
        return
    if kind not in _SORTABLE:
        raise unknown_function(f"elements of {full_type_name(array[0])} cannot be sorted")
    order = _compared_characters if kind is Character else _compared
    sort_by(array, (lambda x, y: -order(x, y)) if descending else order)


@native("sort", types=(list,), is_method=True, is_pure=False)
def sort(run: Any, place: int, array: Array) -> None:
    """Sort items of one type, lowest first."""
    _sort_plain(array, descending=False)


@native("sort_desc", types=(list,), is_method=True, is_pure=False)
def sort_descending(run: Any, place: int, array: Array) -> None:
    """Sort items of one type, highest first."""
    _sort_plain(array, descending=True)


@native("order", types=(list,), is_method=True, is_pure=False)
def ordered(run: Any, place: int, array: Array) -> Array:
    """A sorted copy, lowest first."""
    copy = list(array)
    _sort_plain(copy, descending=False)
    return copy


@native("order_desc", types=(list,), is_method=True, is_pure=False)
def ordered_descending(run: Any, place: int, array: Array) -> Array:
    """A sorted copy, highest first."""
    copy = list(array)
    _sort_plain(copy, descending=True)
    return copy
