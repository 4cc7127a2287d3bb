"""Equality of arrays and maps, as the engine asks for it item by item."""

from __future__ import annotations

from typing import Any

from interpreter.language import operators
from interpreter.language.failures import too_many_operations, unknown_function
from interpreter.language.natives.registry import native
from interpreter.language.values import Value, type_name


class Unequal(Exception):
    """Two values of types that have no equality."""

    def __init__(self, left: Value, right: Value) -> None:
        super().__init__()
        self.left = left
        self.right = right


class Comparison:
    """Compares two values and remembers how deep the last comparison was.

    Each level counts one operation more, on a copy of the counter.
    """

    def __init__(self, run: Any) -> None:
        self.depth = 0
        self._run = run

    def equal(self, left: Value, right: Value, depth: int) -> bool:
        """Whether two values are equal. Raises Unequal when the types have no equality."""
        if not self._run.can_count(depth):
            raise too_many_operations()
        self.depth = depth
        kind = type(left)
        if kind is list and type(right) is list:
            return self._equal_arrays(left, right, depth)
        if kind is dict and type(right) is dict:
            return self._equal_maps(left, right, depth)
        operation = operators.binary("==", left, right)
        if operation is None:
            raise Unequal(left, right)
        return bool(operation(left, right))

    def item(self, left: Value, right: Value, depth: int) -> bool:
        """The same for items of an array, where different types are merely unequal."""
        try:
            return self.equal(left, right, depth)
        except Unequal as unequal:
            if type(left) is type(right) or unequal.left is not left:
                raise
            return False

    def _equal_arrays(self, left: list[Value], right: list[Value], depth: int) -> bool:
        if len(left) != len(right):
            return False
        return all(self.item(x, y, depth + 1) for x, y in zip(left, right, strict=True))

    def _equal_maps(self, left: dict[str, Value], right: dict[str, Value], depth: int) -> bool:
        if len(left) != len(right):
            return False
        for name in sorted(left):
            if name not in right or not self.equal(left[name], right[name], depth + 1):
                return False
        return True


def find_item(run: Any, place: int, array: list[Value], value: Value, start: int = 0) -> int:
    """Index of the first item equal to a value, or -1."""
    comparison = Comparison(run)
    found = -1
    try:
        for index in range(start, len(array)):
            if comparison.item(array[index], value, 1):
                found = index
                break
    except Unequal as unequal:
        raise _no_equality(unequal, place) from None
    if comparison.depth:
        run.ended_with(comparison.depth)
    return found


def _no_equality(unequal: Unequal, place: int) -> Exception:
    types = f"{type_name(unequal.left)}, {type_name(unequal.right)}"
    return unknown_function(f"== ({types})", place)


@native("==", types=(list, list), is_method=True)
@native("==", types=(dict, dict), is_method=True)
def equals(run: Any, place: int, left: Value, right: Value) -> bool:
    """Whether two arrays or two maps are equal."""
    comparison = Comparison(run)
    try:
        result = comparison.equal(left, right, 0)
    except Unequal as unequal:
        raise _no_equality(unequal, place) from None
    if comparison.depth:
        run.ended_with(comparison.depth)
    return result


@native("!=", types=(list, list), is_method=True)
@native("!=", types=(dict, dict), is_method=True)
def differs(run: Any, place: int, left: Value, right: Value) -> bool:
    """Whether two arrays or two maps are different."""
    return not equals(run, place, left, right)
