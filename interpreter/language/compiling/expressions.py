"""Compiling expressions to closures. Calls, chains and statements are in files of their own."""

from __future__ import annotations

from typing import Any

from interpreter.language.compiling.code import FIRST_VARIABLE, Code, in_order, nested
from interpreter.language.compiling.operators import constant_code
from interpreter.language.failures import (
    not_boolean,
    too_large,
    unbound_this,
    unknown_module,
    unknown_variable,
)
from interpreter.language.parsing.traits import NOT_LITERAL, literal_value, place_of_expression
from interpreter.language.parsing.tree import (
    ArrayLiteral,
    Block,
    BlockExpression,
    Call,
    Chain,
    Constant,
    Expression,
    Interpolated,
    Logic,
    MapLiteral,
    Path,
    This,
    Variable,
)
from interpreter.language.running.run import CompiledFunction, Frame, Key, Place, temporary
from interpreter.language.text import debug_depth, script_text
from interpreter.language.values import (
    MAXIMUM_ARRAY,
    MAXIMUM_MAP,
    MAXIMUM_STRING,
    FunctionPointer,
    Value,
    byte_length,
    copy_value,
    sizes,
)

_SIZED = frozenset({str, list, dict})
_SHORT_OFFSET = 255


class ExpressionCompiler:
    """Compiles the expressions of one function.

    ``_scope`` mirrors the scope of the engine at run time: names, oldest first, with whether each
    is a constant. It decides where a variable lives in the frame.
    """

    def __init__(
        self, functions: dict[Key, CompiledFunction], names: dict[str, CompiledFunction]
    ) -> None:
        self._functions = functions
        self._names = names
        self._scope: list[tuple[str, bool]] = []
        self._room = 0

    def _define(self, name: str, constant: bool) -> int:
        """Add a variable to the scope and give its index in the frame."""
        self._scope.append((name, constant))
        self._room = max(self._room, len(self._scope))
        return FIRST_VARIABLE + len(self._scope) - 1

    # What the other files provide -----------------------------------------------------------

    def _block(self, block: Block) -> Code:
        raise NotImplementedError

    def _call(self, node: Call) -> Code:
        raise NotImplementedError

    def _chain(self, node: Chain) -> Code:
        raise NotImplementedError

    # Expressions ----------------------------------------------------------------------------

    def expression(self, node: Expression) -> Code:
        """Compile an expression; its own operation is included."""
        match node:
            case Constant():
                return constant_code(_anchored(node.value))
            case Variable():
                return self._variable(node)
            case Chain():
                return self._chain(node)
            case Call():
                code = self._call(node)
                code.operations += 1
                return code
            case Interpolated():
                return self._interpolated(node)
            case ArrayLiteral():
                return self._array(node)
            case MapLiteral():
                return self._map(node)
            case Logic():
                return self._coalesce(node) if node.kind == "??" else self._logic(node)
            case BlockExpression():
                code = self._block(node.block)
                code.operations += 1
                return code
            case This():
                return _this(node)
        raise AssertionError("a property or method stands outside a chain")

    def argument(self, node: Expression) -> Code:
        """Compile an argument or operand; a literal takes one operation however it is built."""
        if isinstance(node, Constant):
            return self.expression(node)
        value = literal_value(node)
        return self.expression(node) if value is NOT_LITERAL else constant_code(value)

    # Variables ------------------------------------------------------------------------------

    def _slot(self, node: Variable) -> int | None:
        """The index of a variable in the frame, or None when it has to be looked up."""
        if not node.offset or (node.offset > _SHORT_OFFSET and node.name in self._names):
            return None
        index = len(self._scope) - node.offset
        return FIRST_VARIABLE + index if index >= 0 else None

    def _is_constant(self, slot: int) -> bool:
        return self._scope[slot - FIRST_VARIABLE][1]

    def _variable(self, node: Variable) -> Code:
        slot = self._slot(node)
        if slot is None or node.path:
            locate = self.locator(node)

            def found(frame: Frame) -> Value:
                place = locate(frame)
                return copy_value(place.holder[place.key])

            return Code(1, found)

        def run(frame: Frame) -> Value:
            value = frame[slot]
            kind = type(value)
            return copy_value(value) if kind is list or kind is dict else value

        return Code(1, run, peek=lambda frame: frame[slot], is_quiet=True, is_safe=True)

    def locator(self, node: Variable) -> Any:
        """A closure that gives the place of a variable. Raises the failure when there is none."""
        if node.path:
            return _module_variable(node.name, node.path)
        slot = self._slot(node)
        if slot is not None:
            read_only = self._is_constant(slot)
            return lambda frame: Place(frame, slot, is_reference=True, read_only=read_only)
        name, place = node.name, node.place
        function = self._names.get(name)
        below = node.offset - 1 - len(self._scope)
        if function is not None and not 0 < node.offset <= _SHORT_OFFSET:
            pointer = FunctionPointer(name, arity=function.parameters, anchored=True)
            return lambda frame: temporary(pointer)
        if node.offset:
            return lambda frame: _place_below(frame, below, name, place)
        return lambda frame: _place_by_name(frame, name, place)

    # Texts, arrays and maps -----------------------------------------------------------------

    def _interpolated(self, node: Interpolated) -> Code:
        parts = [self.expression(part) for part in node.parts]
        steps = tuple((part.operations, part.peek) for part in parts)

        def run(frame: Frame) -> Value:
            state = frame[0]
            texts = []
            size = 0
            for operations, step in steps:
                state.n += operations
                value = step(frame)
                if type(value) is not str:
                    # The engine converts on a copy of its counters.
                    state.ended_with(1 + debug_depth(value))
                    value = script_text(value)
                texts.append(value)
                size += byte_length(value)
                if size > MAXIMUM_STRING:
                    raise too_large("Length of string")
            return "".join(texts)

        return Code(1, run, frames=nested(*parts))

    def _array(self, node: ArrayLiteral) -> Code:
        parts = [self.expression(item) for item in node.items]
        operations, steps = in_order(parts)

        def run(frame: Frame) -> Value:
            state = frame[0]
            items: list[Value] = []
            inside = (0, 0, 0)
            for more, step in steps:
                state.n += more
                value = step(frame)
                items.append(value)
                if type(value) in _SIZED:
                    inside = _grown(inside, value, len(items), 0)
                elif inside[0] + len(items) > MAXIMUM_ARRAY:
                    raise too_large("Size of array/BLOB")
            return items

        return Code(1 + operations, run, frames=nested(*parts))

    def _map(self, node: MapLiteral) -> Code:
        parts = [self.expression(value) for _, value in node.entries]
        operations, steps = in_order(parts)
        named = tuple(
            (name, more, step) for (name, _), (more, step) in zip(node.entries, steps, strict=True)
        )

        def run(frame: Frame) -> Value:
            state = frame[0]
            entries: dict[str, Value] = {}
            inside = (0, 0, 0)
            for name, more, step in named:
                state.n += more
                value = step(frame)
                entries[name] = value
                if type(value) in _SIZED:
                    inside = _grown(inside, value, 0, len(entries))
                elif inside[1] + len(entries) > MAXIMUM_MAP:
                    raise too_large("Size of object map")
            return entries

        return Code(1 + operations, run, frames=nested(*parts))

    # Logic ----------------------------------------------------------------------------------

    def _logic(self, node: Logic) -> Code:
        parts = [self.expression(item) for item in node.items]
        places = [place_of_expression(item) for item in node.items]
        goes_on = node.kind == "&&"
        first = parts[0].peek
        steps = tuple(
            (part.operations, part.peek, place)
            for part, place in zip(parts[1:], places[1:], strict=True)
        )
        first_place = places[0]

        def run(frame: Frame) -> Value:
            value = first(frame)
            if value is not goes_on:
                if type(value) is not bool:
                    raise not_boolean(value, first_place)
                return value
            for operations, step, place in steps:
                frame[0].n += operations
                value = step(frame)
                if value is not goes_on:
                    if type(value) is not bool:
                        raise not_boolean(value, place)
                    return value
            return goes_on

        return Code(
            1 + parts[0].operations,
            run,
            frames=nested(*parts),
            is_quiet=all(part.is_quiet for part in parts),
        )

    def _coalesce(self, node: Logic) -> Code:
        parts = [self.expression(item) for item in node.items]
        first = parts[0].run
        steps = tuple((part.operations, part.run) for part in parts[1:])

        def run(frame: Frame) -> Value:
            value = first(frame)
            if value is not None:
                return value
            for operations, step in steps:
                frame[0].n += operations
                value = step(frame)
                if value is not None:
                    return value
            return value

        return Code(
            1 + parts[0].operations,
            run,
            frames=nested(*parts),
            is_quiet=all(part.is_quiet for part in parts),
        )


def _anchored(value: Value) -> Value:
    if type(value) is FunctionPointer:
        return FunctionPointer(value.name, value.bound, arity=value.arity, anchored=True)
    return value


def _this(node: This) -> Code:
    place = node.place

    def peek(frame: Frame) -> Value:
        this = frame[1]
        if this is None:
            raise unbound_this(place)
        return this.holder[this.key]

    return Code(1, lambda frame: copy_value(peek(frame)), peek=peek, frames=2, is_quiet=True)


def _grown(
    inside: tuple[int, int, int], value: Value, items: int, entries: int
) -> tuple[int, int, int]:
    """Sizes inside a literal with one more value; raises the failure when they are too large."""
    more = sizes(value)
    inside = inside[0] + more[0], inside[1] + more[1], inside[2] + more[2]
    if inside[2] > MAXIMUM_STRING:
        raise too_large("Length of string")
    if inside[0] + items > MAXIMUM_ARRAY:
        raise too_large("Size of array/BLOB")
    if inside[1] + entries > MAXIMUM_MAP:
        raise too_large("Size of object map")
    return inside


def _module_variable(name: str, path: Path) -> Any:
    modules = "::".join(part for part, _ in path)
    place = path[0][1]

    def fail(frame: Frame) -> Place:
        if modules == "global":
            raise unknown_variable(f"global::{name}", place)
        raise unknown_module(modules, place)

    return fail


def _place_by_name(frame: Frame, name: str, place: int) -> Place:
    """A variable of the callers whose scope this function runs in."""
    behind = frame[2]
    while behind is not None:
        names, outer = behind
        for index in range(len(names) - 1, -1, -1):
            if names[index][0] == name:
                return Place(
                    outer, FIRST_VARIABLE + index, is_reference=True, read_only=names[index][1]
                )
        behind = outer[2]
    raise unknown_variable(name, place)


def _place_below(frame: Frame, depth: int, name: str, place: int) -> Place:
    """The variable ``depth`` places below the scope of a function, which the engine takes."""
    behind = frame[2]
    while behind is not None:
        names, outer = behind
        if depth < len(names):
            index = len(names) - 1 - depth
            return Place(
                outer, FIRST_VARIABLE + index, is_reference=True, read_only=names[index][1]
            )
        depth -= len(names)
        behind = outer[2]
    raise unknown_variable(name, place)
