"""Following a chain of properties, indexes and method calls from its root."""

from __future__ import annotations

from typing import Any, NamedTuple

from interpreter.language.failures import Failure, no_indexer, no_property, wrong_type
from interpreter.language.natives.registry import find
from interpreter.language.running.assigning import Target, assign
from interpreter.language.running.indexing import item_at
from interpreter.language.running.run import (
    Place,
    Run,
    call_by_name,
    call_function,
    call_native,
    check_size,
    linked_function,
    temporary,
)
from interpreter.language.values import FunctionPointer, Value, copy_value, type_name

PROPERTY = 0
METHOD = 1
INDEX = 2


class Link(NamedTuple):
    """One link of a chain.

    ``place`` is where its name or index stands, ``operator_place`` its dot or bracket,
    ``first_place`` the first argument of a method.
    """

    kind: int
    name: str
    optional: bool
    place: int
    operator_place: int
    first_place: int


class Write(NamedTuple):
    """What is assigned to the end of a chain."""

    target: Target
    value: Value


def follow(
    run: Run,
    links: tuple[Link, ...],
    at: int,
    values: list[Any],
    place: Place,
    write: Write | None,
) -> tuple[Value, bool]:
    """Follow a chain from link ``at`` on: the value, and whether something may have changed.

    ``values`` holds the index or the list of arguments of each link.
    """
    link = links[at]
    value = place.holder[place.key]
    if link.optional and value is None:
        return None, False
    is_last = at + 1 == len(links)
    if link.kind == INDEX:
        if is_last:
            return _last_index(run, link, values[at], place, write)
        item = item_at(
            run,
            place,
            values[at],
            link.place,
            link.operator_place,
            adds=False,
            asks_indexer=True,
        )
        result, changed = follow(run, links, at + 1, values, item, write)
        if changed and item.is_temporary:
            # The engine looks for an indexer that takes the changed value back.
            run.n += 1
        return result, changed
    if link.kind == METHOD:
        result, changed = call_method(run, link, place, values[at])
        if is_last:
            return result, changed
        return follow(run, links, at + 1, values, temporary(result), write)
    if is_last:
        return _last_property(run, link, place, write)
    if type(value) is dict:
        return follow(run, links, at + 1, values, _member(run, link, place, False, True), write)
    inner = temporary(_got(run, link, place))
    inner.is_reference = True
    result, changed = follow(run, links, at + 1, values, inner, write)
    if changed:
        # The engine looks for a setter, then for an indexer, and finds neither.
        run.n += 2
    return result, changed


def _last_index(
    run: Run, link: Link, index: Value, place: Place, write: Write | None
) -> tuple[Value, bool]:
    if write is None:
        item = item_at(
            run, place, index, link.place, link.operator_place, adds=False, asks_indexer=True
        )
        return copy_value(item.holder[item.key]), False
    try:
        item = item_at(
            run, place, index, link.place, link.operator_place, adds=True, asks_indexer=False
        )
    except Failure as failure:
        if failure.name != "ErrorIndexingType":
            raise
        run.n += 1 if write.target.compound is None else 2
        types = [type_name(place.holder[place.key]), type_name(index), type_name(write.value)]
        raise no_indexer("{} [{}] = {}".format(*types), link.operator_place) from None
    assign(run, item, write.target, write.value)
    check_size(item.holder[item.key], write.target.place)
    return None, True


def _member(run: Run, link: Link, place: Place, adds: bool, asks_indexer: bool) -> Place:
    return item_at(
        run,
        place,
        link.name,
        link.place,
        link.operator_place,
        adds=adds,
        asks_indexer=asks_indexer,
    )


def _last_property(run: Run, link: Link, place: Place, write: Write | None) -> tuple[Value, bool]:
    value = place.holder[place.key]
    if type(value) is dict:
        if write is None:
            item = _member(run, link, place, False, False)
            return copy_value(item.holder[item.key]), False
        assign(run, _member(run, link, place, True, False), write.target, write.value)
        check_size(value, write.target.place)
        return None, True
    if write is None:
        return _got(run, link, place), False
    new = write.value
    if write.target.compound is not None:
        inner = temporary(_got(run, link, place))
        assign(run, inner, write.target, new)
        new = inner.holder[0]
    run.n += 2
    raise no_property(
        f"No writable property '{link.name}' - a setter is not registered for type "
        f"'{type_name(value)}' to handle '{type_name(new)}'",
        link.place,
    )


def _got(run: Run, link: Link, place: Place) -> Value:
    """The value of a property of something that is no map."""
    value = place.holder[place.key]
    if find(f"get${link.name}", [value]) is None:
        run.n += 2
        raise no_property(
            f"Unknown property '{link.name}' - a getter is not registered for type "
            f"'{type_name(value)}'",
            link.place,
        )
    return call_native(
        run,
        f"get${link.name}",
        [value],
        link.place,
        by_reference=place.is_reference,
        read_only=place.read_only,
    )[0]


# Methods --------------------------------------------------------------------------------------


def call_method(run: Run, link: Link, place: Place, arguments: list[Value]) -> tuple[Value, bool]:
    """Call a method on what stands at a place."""
    value = place.holder[place.key]
    name = link.name
    if name == "call":
        result = _call_pointer(run, link, place, arguments)
    elif name == "curry":
        if type(value) is not FunctionPointer:
            raise wrong_type("Fn", type_name(value), link.place)
        result = value.binding(arguments), False
    elif name == "is_shared" and not arguments:
        result = False, False
    else:
        result = _call_named(run, link, place, arguments)
    if result[1] and place.propagate is not None:
        place.propagate(link.place)
    return result


def _call_named(run: Run, link: Link, place: Place, arguments: list[Value]) -> tuple[Value, bool]:
    value = place.holder[place.key]
    name = link.name
    if type(value) is dict:
        pointer = value.get(name)
        if type(pointer) is FunctionPointer:
            return _call_with_object(run, link, place, pointer, arguments)
    return call_by_name(
        run,
        name,
        [value, *arguments],
        link.place,
        by_reference=place.is_reference,
        read_only=place.read_only,
        this=place,
    )


def _call_pointer(run: Run, link: Link, place: Place, arguments: list[Value]) -> tuple[Value, bool]:
    """``pointer.call(...)`` or ``object.call(pointer, ...)``"""
    value = place.holder[place.key]
    if type(value) is FunctionPointer:
        return call_plainly(run, value, arguments, link.place)
    if not arguments:
        raise wrong_type("Fn", type_name(value), link.place)
    pointer, *rest = arguments
    if type(pointer) is not FunctionPointer:
        raise wrong_type("Fn", type_name(pointer), link.first_place)
    return _call_with_object(run, link, place, pointer, rest)


def call_plainly(
    run: Run, pointer: FunctionPointer, arguments: list[Value], place: int
) -> tuple[Value, bool]:
    """Call what a pointer names, as a function."""
    arguments = [*map(copy_value, pointer.bound), *arguments]
    linked = linked_function(run, pointer, len(arguments))
    if linked is None:
        return call_by_name(run, pointer.name, arguments, place)
    run.level += 1
    try:
        return call_function(run, linked, arguments, place), False
    finally:
        run.level -= 1


def _call_with_object(
    run: Run, link: Link, place: Place, pointer: FunctionPointer, arguments: list[Value]
) -> tuple[Value, bool]:
    arguments = [*map(copy_value, pointer.bound), *arguments]
    linked = linked_function(run, pointer, len(arguments))
    if linked is not None:
        run.level += 1
        try:
            return call_function(run, linked, arguments, link.place, place), False
        finally:
            run.level -= 1
    return call_by_name(
        run,
        pointer.name,
        [place.holder[place.key], *arguments],
        link.place,
        by_reference=place.is_reference,
        read_only=place.read_only,
        this=place,
    )
