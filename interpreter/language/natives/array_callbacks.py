"""Native functions on arrays that call a function of the source for their items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from interpreter.language.failures import Failure
from interpreter.language.natives.arrays import get, index_of_from
from interpreter.language.natives.callbacks import Callback, pointer_to
from interpreter.language.natives.ranges import offset_and_length
from interpreter.language.natives.registry import ANY, native
from interpreter.language.natives.sorting import sort_by
from interpreter.language.running.run import Place, call_pointer
from interpreter.language.values import FunctionPointer, Value, copy_value, type_rank

Array = list[Value]
Pointer = FunctionPointer


def _item(array: Array, index: int, read_only: bool) -> Place:
    return Place(array, index, is_reference=True, read_only=read_only)


def _each(run: Any, place: int, array: Array, pointer: Pointer, caller: str, start: int = 0) -> Any:
    """The results for the items from a position on, one by one."""
    callback = Callback(run, place, pointer, caller, 0)
    read_only = run.read_only
    for index in range(start, len(array)):
        yield index, callback(_item(array, index, read_only), [], [index])


@native("for_each", types=(list, Pointer), is_method=True, is_pure=False)
def for_each(run: Any, place: int, array: Array, pointer: Pointer) -> None:
    """Call a function with each item as ``this``."""
    callback = Callback(run, place, pointer, "for_each", None)
    for index in range(len(array)):
        callback(_item(array, index, run.read_only), [], [index])


@native("map", types=(list, Pointer), is_method=True)
def mapped(run: Any, place: int, array: Array, pointer: Pointer) -> Array:
    """The results of a function for each item."""
    return [result for _, result in _each(run, place, array, pointer, "map")]


@native("filter", types=(list, Pointer), is_method=True)
def filtered(run: Any, place: int, array: Array, pointer: Pointer) -> Array:
    """The items for which a function gives true."""
    results = _each(run, place, array, pointer, "filter")
    return [copy_value(array[index]) for index, result in results if result is True]


@native("index_of", types=(list, Pointer), is_method=True)
def index_where(run: Any, place: int, array: Array, pointer: Pointer) -> int:
    """Index of the first item for which a function gives true, or -1."""
    return _index_where(run, place, array, pointer, 0)


@native("index_of", types=(list, Pointer, int), is_method=True)
def index_where_from(run: Any, place: int, array: Array, pointer: Pointer, start: int) -> int:
    """The same from a position on."""
    return _index_where(run, place, array, pointer, start)


def _index_where(run: Any, place: int, array: Array, pointer: Pointer, start: int) -> int:
    start, _ = offset_and_length(len(array), start, 0)
    for index, result in _each(run, place, array, pointer, "index_of", start):
        if result is True:
            return int(index)
    return -1


@native("find", types=(list, Pointer), is_method=True)
def find(run: Any, place: int, array: Array, pointer: Pointer) -> Value:
    """The first item for which a function gives true, or unit."""
    return find_from(run, place, array, pointer, 0)


@native("find", types=(list, Pointer, int), is_method=True)
def find_from(run: Any, place: int, array: Array, pointer: Pointer, start: int) -> Value:
    """The same from a position on."""
    index = _index_where(run, place, array, pointer, start)
    return None if index < 0 else get(run, place, array, index)


@native("find_map", types=(list, Pointer), is_method=True)
def find_map(run: Any, place: int, array: Array, pointer: Pointer) -> Value:
    """The first result of a function that is not unit, or unit."""
    return find_map_from(run, place, array, pointer, 0)


@native("find_map", types=(list, Pointer, int), is_method=True)
def find_map_from(run: Any, place: int, array: Array, pointer: Pointer, start: int) -> Value:
    """The same from a position on."""
    start, _ = offset_and_length(len(array), start, 0)
    for _, result in _each(run, place, array, pointer, "find_map", start):
        if result is not None:
            return result
    return None


@native("some", types=(list, Pointer), is_method=True)
def some(run: Any, place: int, array: Array, pointer: Pointer) -> bool:
    """Whether a function gives true for any item."""
    results = _each(run, place, array, pointer, "some")
    return any(result is True for _, result in results)


@native("all", types=(list, Pointer), is_method=True)
def every(run: Any, place: int, array: Array, pointer: Pointer) -> bool:
    """Whether a function gives true for all items."""
    results = _each(run, place, array, pointer, "all")
    return all(result is True for _, result in results)


@native("reduce", types=(list, Pointer), is_method=True)
def reduce(run: Any, place: int, array: Array, pointer: Pointer) -> Value:
    """Fold the items into one value, from the first to the last, starting with unit."""
    return reduce_from(run, place, array, pointer, None)


@native("reduce", types=(list, Pointer, ANY), is_method=True)
def reduce_from(run: Any, place: int, array: Array, pointer: Pointer, value: Value) -> Value:
    """The same, starting with a value."""
    return _fold(run, place, array, pointer, value, "reduce", range(len(array)))


@native("reduce_rev", types=(list, Pointer), is_method=True)
def reduce_backwards(run: Any, place: int, array: Array, pointer: Pointer) -> Value:
    """Fold the items into one value, from the last to the first, starting with unit."""
    return reduce_backwards_from(run, place, array, pointer, None)


@native("reduce_rev", types=(list, Pointer, ANY), is_method=True)
def reduce_backwards_from(
    run: Any, place: int, array: Array, pointer: Pointer, value: Value
) -> Value:
    """The same, starting with a value."""
    indexes = range(len(array) - 1, -1, -1)
    return _fold(run, place, array, pointer, value, "reduce_rev", indexes)


def _fold(
    run: Any,
    place: int,
    array: Array,
    pointer: Pointer,
    value: Value,
    caller: str,
    indexes: range,
) -> Value:
    callback = Callback(run, place, pointer, caller, 1)
    read_only = run.read_only
    for index in indexes:
        value = callback(_item(array, index, read_only), [value], [index])
    return value


@native("zip", types=(list, list, Pointer), is_method=True)
def zipped(run: Any, place: int, array: Array, other: Array, pointer: Pointer) -> Array:
    """The results of a function for the pairs of two arrays."""
    callback = Callback(run, place, pointer, "zip", None)
    pairs = enumerate(zip(array, other, strict=False))
    return [callback(None, [copy_value(x), y], [index]) for index, (x, y) in pairs]


@native("dedup", types=(list,), is_method=True, is_pure=False)
def dedup(run: Any, place: int, array: Array) -> None:
    """Drop items that equal the one before them."""
    dedup_by(run, place, array, FunctionPointer("=="))


@native("dedup", types=(list, Pointer), is_method=True, is_pure=False)
def dedup_by(run: Any, place: int, array: Array, pointer: Pointer) -> None:
    """Drop items for which a function of the one before and the item gives true."""
    kept: Array = []
    for item in array:
        if not kept or not _same(run, place, pointer, kept[-1], item):
            kept.append(item)
    array[:] = kept


def _same(run: Any, place: int, pointer: Pointer, before: Value, item: Value) -> bool:
    try:
        arguments = [copy_value(before), copy_value(item)]
        return call_pointer(run, pointer, arguments, place) is True
    except Failure:
        return False


@native("sort", "sort_by", types=(list, Pointer), is_method=True, is_pure=False)
def sort_with(run: Any, place: int, array: Array, pointer: Pointer) -> None:
    """Sort by a function that compares two items."""

    def order(x: Value, y: Value) -> int:
        try:
            result = call_pointer(run, pointer, [copy_value(x), copy_value(y)], place)
        except Failure:
            result = None
        if type(result) is bool:
            return -1 if result else 1
        return result if type(result) is int else type_rank(x) - type_rank(y)

    sort_by(array, order)


@native("order", "order_by", types=(list, Pointer), is_method=True, is_pure=False)
def ordered_with(run: Any, place: int, array: Array, pointer: Pointer) -> Array:
    """A copy sorted by a function that compares two items."""
    copy: Array = copy_value(array)
    sort_with(run, place, copy, pointer)
    return copy


@native("drain", types=(list, Pointer), is_method=True, is_pure=False)
def drain_where(run: Any, place: int, array: Array, pointer: Pointer) -> Array:
    """Cut out and give the items for which a function gives true."""
    return _cut(run, place, array, pointer, "drain", cuts=True)


@native("retain", types=(list, Pointer), is_method=True, is_pure=False)
def retain_where(run: Any, place: int, array: Array, pointer: Pointer) -> Array:
    """Keep the items for which a function gives true and give the rest."""
    return _cut(run, place, array, pointer, "retain", cuts=False)


def _cut(run: Any, place: int, array: Array, pointer: Pointer, caller: str, *, cuts: bool) -> Array:
    callback = Callback(run, place, pointer, caller, 0)
    cut: Array = []
    at = 0
    for index in range(len(array)):
        fits = callback(_item(array, at, run.read_only), [], [index]) is True
        if fits is cuts:
            cut.append(array.pop(at))
        else:
            at += 1
    return cut


# The same functions take the name of a function instead of a pointer.


def _by_name(name: str, run_pointer: Callable[..., Value], extra: bool, is_pure: bool) -> None:
    types = (list, str, ANY) if extra else (list, str)

    @native(name, types=types, is_method=True, is_pure=is_pure)
    def by_name(run: Any, place: int, array: Array, function: str, *more: Value) -> Value:
        """Call the version that takes a function pointer."""
        return run_pointer(run, place, array, pointer_to(function), *more)


for _name, _function, _extra, _pure in (
    ("map", mapped, False, False),
    ("filter", filtered, False, False),
    ("some", some, False, True),
    ("all", every, False, True),
    ("dedup", dedup_by, False, False),
    ("reduce", reduce, False, True),
    ("reduce", reduce_from, True, True),
    ("reduce_rev", reduce_backwards, False, True),
    ("reduce_rev", reduce_backwards_from, True, True),
    ("sort", sort_with, False, False),
    ("drain", drain_where, False, False),
    ("retain", retain_where, False, False),
):
    _by_name(_name, _function, _extra, _pure)


@native("index_of", types=(list, str), is_method=True)
def index_of_name(run: Any, place: int, array: Array, name: str) -> int:
    """Index of the first item that a named function accepts or, without one, that is the name."""
    return index_of_name_from(run, place, array, name, 0)  # type: ignore[no-any-return]


@native("index_of", types=(list, str, int), is_method=True)
def index_of_name_from(run: Any, place: int, array: Array, name: str, start: int) -> int:
    """The same from a position on."""
    if not array:
        return -1
    try:
        pointer = pointer_to(name)
    except Failure:
        return index_of_from(run, place, array, name, start)  # type: ignore[no-any-return]
    try:
        return _index_where(run, place, array, pointer, start)
    except Failure as failure:
        # The failure of the callback is wrapped once, by the call for an item.
        cause = failure.cause or failure
        if cause.name != "ErrorFunctionNotFound":
            raise
        if not cause.details["function"].startswith(name):
            raise
    return index_of_from(run, place, array, name, start)  # type: ignore[no-any-return]
