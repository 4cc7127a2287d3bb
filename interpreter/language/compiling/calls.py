"""Compiling calls: functions of the source, native functions, and the calls of the language."""

from __future__ import annotations

from typing import Any

from interpreter.language.compiling.code import Code, Step, in_order, nested
from interpreter.language.compiling.expressions import ExpressionCompiler
from interpreter.language.compiling.operators import binary, negation
from interpreter.language.failures import Failure, unknown_module, wrong_type
from interpreter.language.natives.callbacks import pointer_to
from interpreter.language.parsing.traits import start_of_expression
from interpreter.language.parsing.tree import Call, Expression, This, Variable
from interpreter.language.running.linking import call_plainly
from interpreter.language.running.run import CompiledFunction, Frame, call_by_name, call_function
from interpreter.language.values import (
    FunctionPointer,
    Value,
    copy_value,
    full_type_name,
    type_name,
)


class CallCompiler(ExpressionCompiler):
    """Compiles calls and operators. The operation of the expression itself is not included."""

    def _call(self, node: Call) -> Code:
        if node.path:
            return self._module_call(node)
        arguments = node.arguments
        if node.operator is not None:
            if node.operator == "!":
                code = negation(self.argument(arguments[0]), node.place)
                code.operations -= 1
                return code
            if len(arguments) == 2:
                left, right = (self.argument(argument) for argument in arguments)
                code = binary(node.operator, node.name, left, right, node.place)
                code.operations -= 1
                return code
            return self._plain_call(node)
        special = self._special_call(node)
        if special is not None:
            return special
        return self._capturing_call(node) if node.captures else self._plain_call(node)

    # Arguments ------------------------------------------------------------------------------

    def _all_arguments(self, arguments: list[Expression]) -> tuple[int, int, Step]:
        """Operations, nested calls and a closure for a list of arguments, first to last."""
        parts = [self.argument(argument) for argument in arguments]
        operations, steps = in_order(parts)
        return operations, nested(*parts), list_of(steps)

    def _rest_arguments(self, arguments: list[Expression]) -> tuple[int, int, Step]:
        """The same for the arguments behind a variable, which is counted before them."""
        operations, frames, rest = self._all_arguments(arguments[1:])
        return 1 + operations, frames, rest

    # Calls by name --------------------------------------------------------------------------

    def _plain_call(self, node: Call) -> Code:
        arguments = node.arguments
        first = arguments[0] if arguments else None
        native_only = node.operator is not None
        function = None
        if not native_only:
            function = self._functions.get((node.name, len(arguments), None))
        if isinstance(first, Variable):
            slot = self._slot(first)
            if slot is not None and not first.path:
                return self._variable_call(node, slot, function)
            return self._located_call(node, self.locator(first))
        if isinstance(first, This):
            return self._this_call(node)
        operations, frames, collect = self._all_arguments(arguments)
        if function is not None:
            return Code(operations, _script_call(function, collect, node.place), frames=frames + 2)
        name, place, operator = node.name, node.place, node.operator

        def run(frame: Frame) -> Value:
            return call_by_name(
                frame[0],
                name,
                collect(frame),
                place,
                native_only=native_only,
                operator=operator,
            )[0]

        return Code(operations, run, frames=frames + 4)

    def _variable_call(self, node: Call, slot: int, function: CompiledFunction | None) -> Code:
        """A call whose first argument is a variable: natives work on the variable itself."""
        operations, frames, collect = self._rest_arguments(node.arguments)
        if function is not None:

            def collect_all(frame: Frame) -> list[Value]:
                rest: list[Value] = collect(frame)
                return [copy_value(frame[slot]), *rest]

            run = _script_call(function, collect_all, node.place)
            return Code(operations, run, frames=frames + 2)
        name, place, operator = node.name, node.place, node.operator
        is_constant = self._is_constant(slot)
        native_only = operator is not None

        def run_native(frame: Frame) -> Value:
            rest = collect(frame)
            value = frame[slot]
            return call_by_name(
                frame[0],
                name,
                [copy_value(value) if is_constant else value, *rest],
                place,
                by_reference=not is_constant,
                native_only=native_only,
                operator=operator,
            )[0]

        return Code(operations, run_native, frames=frames + 4)

    def _located_call(self, node: Call, locate: Any) -> Code:
        """A call whose first argument is a name that has to be looked up, after the others."""
        operations, frames, collect = self._rest_arguments(node.arguments)
        name, place, operator = node.name, node.place, node.operator
        native_only = operator is not None

        def run(frame: Frame) -> Value:
            rest = collect(frame)
            found = locate(frame)
            value = found.holder[found.key]
            by_reference = found.is_reference and not found.read_only
            return call_by_name(
                frame[0],
                name,
                [value if by_reference else copy_value(value), *rest],
                place,
                by_reference=by_reference,
                native_only=native_only,
                operator=operator,
            )[0]

        return Code(operations, run, frames=frames + 4)

    def _this_call(self, node: Call) -> Code:
        """A call whose first argument is ``this``."""
        operations, frames, collect = self._rest_arguments(node.arguments)
        this = self.expression(node.arguments[0]).peek
        name, place, operator = node.name, node.place, node.operator
        native_only = operator is not None

        def run(frame: Frame) -> Value:
            if frame[1] is None:
                this(frame)
            rest = collect(frame)
            return call_by_name(
                frame[0],
                name,
                [this(frame), *rest],
                place,
                by_reference=True,
                read_only=frame[1].read_only,
                native_only=native_only,
                operator=operator,
            )[0]

        return Code(operations, run, frames=frames + 4)

    def _capturing_call(self, node: Call) -> Code:
        """``name!(...)``: the function sees the variables of the caller."""
        operations, frames, collect = self._all_arguments(node.arguments)
        scope = tuple(self._scope)
        name, place = node.name, node.place

        def run(frame: Frame) -> Value:
            return call_by_name(frame[0], name, collect(frame), place, behind=(scope, frame))[0]

        return Code(operations, run, frames=frames + 4)

    def _module_call(self, node: Call) -> Code:
        """A function of a module: there is none, but its arguments are evaluated first."""
        first = node.arguments[0] if node.arguments else None
        behind: Any = None
        if isinstance(first, Variable):
            operations, frames, collect = self._rest_arguments(node.arguments)
            behind = self.locator(first)
        elif isinstance(first, This):
            operations, frames, collect = self._rest_arguments(node.arguments)
            behind = self.expression(first).peek
        else:
            operations, frames, collect = self._all_arguments(node.arguments)
        modules = "::".join(part for part, _ in node.path)
        place = node.path[0][1]

        def run(frame: Frame) -> Value:
            collect(frame)
            if behind is not None:
                behind(frame)
            raise unknown_module(modules, place)

        return Code(operations, run, frames=frames + 1)

    # Calls of the language ------------------------------------------------------------------

    def _special_call(self, node: Call) -> Code | None:
        count = len(node.arguments)
        if node.name == "Fn" and count == 1:
            return self._pointer_by_name(node)
        if node.name == "call" and count >= 1:
            return self._pointer_call(node)
        if node.name == "curry" and count > 1:
            return self._curry(node)
        if node.name == "is_shared" and count == 1:
            return self._is_shared(node)
        if node.name == "is_def_var" and count == 1:
            return self._is_defined(node)
        return None

    def _is_shared(self, node: Call) -> Code:
        only = self.argument(node.arguments[0])
        step = only.peek

        def run(frame: Frame) -> Value:
            step(frame)
            return False

        return Code(only.operations, run, frames=nested(only))

    def _pointer_by_name(self, node: Call) -> Code:
        only = self.argument(node.arguments[0])
        step = only.peek
        place = start_of_expression(node.arguments[0])

        def run(frame: Frame) -> Value:
            name = step(frame)
            if type(name) is not str:
                raise wrong_type("string", full_type_name(name), place)
            try:
                return pointer_to(name)
            except Failure as failure:
                raise failure.at(place) from None

        return Code(only.operations, run, frames=nested(only))

    def _pointer(self, node: Call) -> tuple[Code, Step]:
        """The first argument, which has to be a function pointer."""
        first = self.argument(node.arguments[0])
        step = first.peek
        place = start_of_expression(node.arguments[0])

        def run(frame: Frame) -> Value:
            pointer = step(frame)
            if type(pointer) is not FunctionPointer:
                raise wrong_type("Fn", type_name(pointer), place)
            return pointer

        return first, run

    def _curry(self, node: Call) -> Code:
        first, pointer_of = self._pointer(node)
        operations, frames, collect = self._all_arguments(node.arguments[1:])

        def run(frame: Frame) -> Value:
            pointer = pointer_of(frame)
            frame[0].n += operations
            return pointer.binding(collect(frame))

        return Code(first.operations, run, frames=max(frames, first.frames + 1) + 1)

    def _pointer_call(self, node: Call) -> Code:
        """``call(pointer, ...)``"""
        first, pointer_of = self._pointer(node)
        rest = node.arguments[1:]
        place = node.place
        operations, frames, collect = self._all_arguments(rest)
        by_name_operations, by_name = self._redirected_call(rest, place)

        def run(frame: Frame) -> Value:
            pointer = pointer_of(frame)
            state = frame[0]
            if not pointer.bound and pointer.arity != len(rest):
                state.n += by_name_operations
                return by_name(frame, pointer.name)
            state.n += operations
            return call_plainly(state, pointer, collect(frame), place)[0]

        return Code(first.operations, run, frames=max(frames + 4, first.frames) + 1)

    def _redirected_call(self, rest: list[Expression], place: int) -> tuple[int, Any]:
        """Call a function by a name known at run time; a variable in front stays a reference."""
        first = rest[0] if rest else None
        if isinstance(first, This):
            operations, _, collect = self._rest_arguments(rest)
            this = self.expression(first).peek

            def with_this(frame: Frame, name: str) -> Value:
                if frame[1] is None:
                    this(frame)
                arguments = collect(frame)
                return call_by_name(
                    frame[0],
                    name,
                    [this(frame), *arguments],
                    place,
                    by_reference=True,
                    read_only=frame[1].read_only,
                )[0]

            return operations, with_this
        if isinstance(first, Variable):
            operations, _, collect = self._rest_arguments(rest)
            locate = self.locator(first)

            def with_variable(frame: Frame, name: str) -> Value:
                arguments = collect(frame)
                found = locate(frame)
                value = found.holder[found.key]
                by_reference = found.is_reference and not found.read_only
                return call_by_name(
                    frame[0],
                    name,
                    [value if by_reference else copy_value(value), *arguments],
                    place,
                    by_reference=by_reference,
                )[0]

            return operations, with_variable
        operations, _, collect_all = self._all_arguments(rest)

        def plainly(frame: Frame, name: str) -> Value:
            return call_by_name(frame[0], name, collect_all(frame), place)[0]

        return operations, plainly

    def _is_defined(self, node: Call) -> Code:
        """``is_def_var("name")``"""
        only = self.argument(node.arguments[0])
        step = only.peek
        place = start_of_expression(node.arguments[0])
        known = frozenset(name for name, _ in self._scope)

        def run(frame: Frame) -> Value:
            name = step(frame)
            if type(name) is not str:
                raise wrong_type("string", full_type_name(name), place)
            if name in known:
                return True
            behind = frame[2]
            while behind is not None:
                names, outer = behind
                if any(other == name for other, _ in names):
                    return True
                behind = outer[2]
            return False

        return Code(only.operations, run, frames=nested(only))


def list_of(steps: tuple[tuple[int, Step], ...]) -> Step:
    """A closure that gives the values of some steps as a list."""
    if not steps:
        return lambda frame: []
    (_, first), *others = steps
    if not others:
        return lambda frame: [first(frame)]
    rest = tuple(others)

    def collect(frame: Frame) -> Value:
        values = [first(frame)]
        run = frame[0]
        for operations, step in rest:
            run.n += operations
            values.append(step(frame))
        return values

    return collect


def _script_call(function: CompiledFunction, collect: Step, place: int) -> Step:
    def run(frame: Frame) -> Value:
        arguments = collect(frame)
        if function.is_empty:
            return None
        state = frame[0]
        state.level += 1
        try:
            return call_function(state, function, arguments, place)
        finally:
            state.level -= 1

    return run
