"""Native functions on arrays that call no function of the source."""

from __future__ import annotations

from typing import Any

from interpreter.language.failures import too_large
from interpreter.language.natives.comparing import find_item
from interpreter.language.natives.ranges import bounds, offset_and_length
from interpreter.language.natives.registry import ANY, native
from interpreter.language.values import (
    INT_MAX,
    MAXIMUM_ARRAY,
    MAXIMUM_MAP,
    MAXIMUM_STRING,
    ExclusiveRange,
    InclusiveRange,
    Value,
    copy_value,
    sizes,
)

Array = list[Value]


@native("len", "get$len", types=(list,), is_method=True)
def length(run: Any, place: int, array: Array) -> int:
    """Number of items."""
    return len(array)


@native("is_empty", "get$is_empty", types=(list,), is_method=True)
def is_empty(run: Any, place: int, array: Array) -> bool:
    """Whether there is no item."""
    return not array


@native("get", types=(list, int), is_method=True, is_pure=False)
def get(run: Any, place: int, array: Array, index: int) -> Value:
    """An item, or unit outside the array; a negative index too small is the first item."""
    at, _ = offset_and_length(len(array), index, 0)
    return copy_value(array[at]) if at < len(array) else None


@native("set", types=(list, int, ANY), is_method=True, is_pure=False)
def put(run: Any, place: int, array: Array, index: int, value: Value) -> None:
    """Replace an item; nothing happens outside the array."""
    at, _ = offset_and_length(len(array), index, 0)
    if at < len(array):
        array[at] = value


@native("push", types=(list, ANY), is_method=True, is_pure=False)
def push(run: Any, place: int, array: Array, value: Value) -> None:
    """Add an item at the end."""
    array.append(value)


@native("append", types=(list, list), is_method=True, is_pure=False)
def append(run: Any, place: int, array: Array, other: Array) -> None:
    """Add the items of another array at the end."""
    array.extend(other)


@native("+", types=(list, list))
def concatenated(run: Any, place: int, left: Array, right: Array) -> Array:
    """The items of both arrays."""
    joined: Array = copy_value(left) + copy_value(right)
    return joined


@native("insert", types=(list, int, ANY), is_method=True, is_pure=False)
def insert(run: Any, place: int, array: Array, index: int, value: Value) -> None:
    """Put an item before a position."""
    at, _ = offset_and_length(len(array), index, 0)
    array.insert(at, value)


@native("pad", types=(list, int, ANY), is_method=True, is_pure=False)
def pad(run: Any, place: int, array: Array, size: int, value: Value) -> None:
    """Fill an array up to a size."""
    more = size - len(array)
    if size < 0 or more <= 0:
        return
    items, entries, characters = sizes(array)
    own_items, own_entries, own_characters = sizes(value)
    if characters + own_characters * more > MAXIMUM_STRING:
        raise too_large("Length of string")
    if items + more + own_items * more > MAXIMUM_ARRAY:
        raise too_large("Size of array/BLOB")
    if entries + own_entries * more > MAXIMUM_MAP:
        raise too_large("Size of object map")
    array.extend(copy_value(value) for _ in range(more))


@native("pop", types=(list,), is_method=True, is_pure=False)
def pop(run: Any, place: int, array: Array) -> Value:
    """Take the last item away, or unit."""
    return array.pop() if array else None


@native("shift", types=(list,), is_method=True, is_pure=False)
def shift(run: Any, place: int, array: Array) -> Value:
    """Take the first item away, or unit."""
    return array.pop(0) if array else None


@native("remove", types=(list, int), is_method=True, is_pure=False)
def remove(run: Any, place: int, array: Array, index: int) -> Value:
    """Take an item away, or unit outside the array."""
    return array.pop(index) if -len(array) <= index < len(array) else None


@native("clear", types=(list,), is_method=True, is_pure=False)
def clear(run: Any, place: int, array: Array) -> None:
    """Take all items away."""
    array.clear()


@native("truncate", types=(list, int), is_method=True, is_pure=False)
def truncate(run: Any, place: int, array: Array, size: int) -> None:
    """Keep the first items only."""
    del array[max(size, 0) :]


@native("chop", types=(list, int), is_method=True, is_pure=False)
def chop(run: Any, place: int, array: Array, size: int) -> None:
    """Keep the last items only."""
    del array[: max(len(array) - max(size, 0), 0)]


@native("reverse", types=(list,), is_method=True, is_pure=False)
def reverse(run: Any, place: int, array: Array) -> None:
    """Turn the order around."""
    array.reverse()


@native("splice", types=(list, int, int, list), is_method=True, is_pure=False)
def splice(run: Any, place: int, array: Array, start: int, size: int, new: Array) -> None:
    """Replace a part by other items."""
    start, size = offset_and_length(len(array), start, size)
    array[start : start + size] = new


@native("splice", types=(list, ExclusiveRange, list), is_method=True, is_pure=False)
@native("splice", types=(list, InclusiveRange, list), is_method=True, is_pure=False)
def splice_range(run: Any, place: int, array: Array, part: ExclusiveRange, new: Array) -> None:
    """Replace the items in a range by others."""
    splice(run, place, array, *bounds(part), new)


@native("extract", types=(list, int, int), is_method=True, is_pure=False)
def extract(run: Any, place: int, array: Array, start: int, size: int) -> Array:
    """A copy of a part."""
    start, size = offset_and_length(len(array), start, size)
    part: Array = copy_value(array[start : start + size])
    return part


@native("extract", types=(list, int), is_method=True, is_pure=False)
def extract_tail(run: Any, place: int, array: Array, start: int) -> Array:
    """A copy of the items from a position on."""
    return extract(run, place, array, start, INT_MAX)  # type: ignore[no-any-return]


@native("extract", types=(list, ExclusiveRange), is_method=True, is_pure=False)
@native("extract", types=(list, InclusiveRange), is_method=True, is_pure=False)
def extract_range(run: Any, place: int, array: Array, part: ExclusiveRange) -> Array:
    """A copy of the items in a range."""
    return extract(run, place, array, *bounds(part))  # type: ignore[no-any-return]


@native("split", types=(list, int), is_method=True, is_pure=False)
def split(run: Any, place: int, array: Array, index: int) -> Array:
    """Cut off and give the items from a position on."""
    start, _ = offset_and_length(len(array), index, INT_MAX)
    tail = array[start:]
    del array[start:]
    return tail


@native("drain", types=(list, int, int), is_method=True, is_pure=False)
def drain(run: Any, place: int, array: Array, start: int, size: int) -> Array:
    """Cut out and give a part."""
    start, size = offset_and_length(len(array), start, size)
    part = array[start : start + size]
    del array[start : start + size]
    return part


@native("drain", types=(list, ExclusiveRange), is_method=True, is_pure=False)
@native("drain", types=(list, InclusiveRange), is_method=True, is_pure=False)
def drain_range(run: Any, place: int, array: Array, part: ExclusiveRange) -> Array:
    """Cut out and give the items in a range."""
    return drain(run, place, array, *bounds(part))  # type: ignore[no-any-return]


@native("retain", types=(list, int, int), is_method=True, is_pure=False)
def retain(run: Any, place: int, array: Array, start: int, size: int) -> Array:
    """Keep a part and give the rest; nothing happens when the part is empty."""
    start, size = offset_and_length(len(array), start, size)
    if size == 0:
        return []
    rest = array[:start] + array[start + size :]
    array[:] = array[start : start + size]
    return rest


@native("retain", types=(list, ExclusiveRange), is_method=True, is_pure=False)
@native("retain", types=(list, InclusiveRange), is_method=True, is_pure=False)
def retain_range(run: Any, place: int, array: Array, part: ExclusiveRange) -> Array:
    """Keep the items in a range and give the rest."""
    return retain(run, place, array, *bounds(part))  # type: ignore[no-any-return]


@native("contains", types=(list, ANY), is_method=True)
def contains(run: Any, place: int, array: Array, value: Value) -> bool:
    """Whether an item equals a value."""
    return find_item(run, place, array, value) >= 0


@native("index_of", types=(list, ANY), is_method=True)
def index_of(run: Any, place: int, array: Array, value: Value) -> int:
    """Index of the first item equal to a value, or -1."""
    return find_item(run, place, array, value)


@native("index_of", types=(list, ANY, int), is_method=True)
def index_of_from(run: Any, place: int, array: Array, value: Value, start: int) -> int:
    """The same from a position on."""
    start, _ = offset_and_length(len(array), start, 0)
    return find_item(run, place, array, value, start)
