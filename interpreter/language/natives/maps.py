"""Native functions on maps. Maps are walked through by key."""

from __future__ import annotations

from typing import Any

from interpreter.language.failures import Failure
from interpreter.language.natives.callbacks import Callback
from interpreter.language.natives.registry import ANY, native
from interpreter.language.running.run import Place
from interpreter.language.text import native_debug, string_debug
from interpreter.language.values import FunctionPointer, Value, copy_value

Map = dict[str, Value]
Pointer = FunctionPointer


@native("len", types=(dict,), is_method=True)
def length(run: Any, place: int, entries: Map) -> int:
    """Number of properties."""
    return len(entries)


@native("is_empty", types=(dict,), is_method=True)
def is_empty(run: Any, place: int, entries: Map) -> bool:
    """Whether there is no property."""
    return not entries


@native("contains", types=(dict, str), is_method=True)
def contains(run: Any, place: int, entries: Map, name: str) -> bool:
    """Whether there is a property of this name."""
    return name in entries


@native("get", types=(dict, str), is_method=True)
def get(run: Any, place: int, entries: Map, name: str) -> Value:
    """The value of a property, or unit."""
    return copy_value(entries.get(name))


@native("set", types=(dict, str, ANY), is_method=True, is_pure=False)
def put(run: Any, place: int, entries: Map, name: str, value: Value) -> None:
    """Set a property."""
    entries[name] = value


@native("clear", types=(dict,), is_method=True, is_pure=False)
def clear(run: Any, place: int, entries: Map) -> None:
    """Take all properties away."""
    entries.clear()


@native("remove", types=(dict, str), is_method=True, is_pure=False)
def remove(run: Any, place: int, entries: Map, name: str) -> Value:
    """Take a property away and give its value, or unit."""
    return entries.pop(name, None)


@native("mixin", "+=", types=(dict, dict), is_method=True, is_pure=False)
def mixin(run: Any, place: int, entries: Map, other: Map) -> None:
    """Set all properties of another map."""
    entries.update(other)


@native("+", types=(dict, dict))
def merged(run: Any, place: int, left: Map, right: Map) -> Map:
    """The properties of both maps; the second one wins."""
    result: Map = {**copy_value(left), **copy_value(right)}
    return result


@native("fill_with", types=(dict, dict), is_method=True, is_pure=False)
def fill_with(run: Any, place: int, entries: Map, other: Map) -> None:
    """Set those properties of another map that are missing."""
    for name, value in other.items():
        entries.setdefault(name, value)


@native("keys", types=(dict,), is_method=True)
def keys(run: Any, place: int, entries: Map) -> list[Value]:
    """The names of the properties."""
    return sorted(entries)


@native("values", types=(dict,), is_method=True)
def values(run: Any, place: int, entries: Map) -> list[Value]:
    """The values of the properties, in the order of their names."""
    return [copy_value(entries[name]) for name in sorted(entries)]


def _item(entries: Map, name: str, read_only: bool) -> Place:
    return Place(entries, name, is_reference=True, read_only=read_only)


@native("map", types=(dict, Pointer), is_method=True)
def mapped(run: Any, place: int, entries: Map, pointer: Pointer) -> Map:
    """The results of a function for each property."""
    # The engine names the wrong function in messages of this one.
    callback = Callback(run, place, pointer, "filter", 1)
    read_only = run.read_only
    return {name: callback(_item(entries, name, read_only), [name], []) for name in sorted(entries)}


@native("filter", types=(dict, Pointer), is_method=True)
def filtered(run: Any, place: int, entries: Map, pointer: Pointer) -> Map:
    """The properties for which a function gives true."""
    callback = Callback(run, place, pointer, "filter", 1)
    read_only = run.read_only
    return {
        name: copy_value(entries[name])
        for name in sorted(entries)
        if callback(_item(entries, name, read_only), [name], []) is True
    }


@native("drain", types=(dict, Pointer), is_method=True, is_pure=False)
def drain(run: Any, place: int, entries: Map, pointer: Pointer) -> Map:
    """Cut out and give the properties for which a function gives true."""
    return _cut(run, place, entries, pointer, "drain", cuts=True)


@native("retain", types=(dict, Pointer), is_method=True, is_pure=False)
def retain(run: Any, place: int, entries: Map, pointer: Pointer) -> Map:
    """Keep the properties for which a function gives true and give the rest."""
    return _cut(run, place, entries, pointer, "retain", cuts=False)


def _cut(run: Any, place: int, entries: Map, pointer: Pointer, caller: str, *, cuts: bool) -> Map:
    callback = Callback(run, place, pointer, caller, 1)
    cut: Map = {}
    kept: Map = {}
    error: Failure | None = None
    for name in sorted(entries):
        fits = not cuts
        if error is None:
            try:
                fits = callback(_item(entries, name, False), [name], []) is True
            except Failure as failure:
                # The property at which it fails is lost, as it is in the engine.
                error = failure
                continue
        (cut if fits is cuts else kept)[name] = entries[name]
    entries.clear()
    entries.update(kept)
    if error is not None:
        raise error
    return cut


@native("to_json", types=(dict,), is_method=True)
def to_json(run: Any, place: int, entries: Map) -> str:
    """The map as JSON text; what JSON does not have is written as a message would show it."""
    return _json(entries)


def _json(value: Value) -> str:
    kind = type(value)
    if value is None:
        return "null"
    if kind is dict:
        inner = ",".join(f"{string_debug(name)}:{_json(value[name])}" for name in sorted(value))
        return "{" + inner + "}"
    if kind is list:
        return "[" + ",".join(map(_json, value)) + "]"
    if kind is FunctionPointer:
        if not value.bound:
            return string_debug(value.name)
        parts = [string_debug(value.name), *map(_json, value.bound)]
        return "[" + ",".join(parts) + "]"
    return native_debug(value)
