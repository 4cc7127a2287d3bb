"""Compiling assignments to closures: plain and compound ones, to variables and to ``this``."""

from __future__ import annotations

from typing import Any

from interpreter.language.compiling.chains import ChainCompiler
from interpreter.language.compiling.code import Code, Step, nested
from interpreter.language.failures import (
    constant_assigned,
    unbound_this,
)
from interpreter.language.parsing.traits import place_of_expression, start_of_expression
from interpreter.language.parsing.tree import (
    Assignment,
    Chain,
    Expression,
    This,
    Variable,
)
from interpreter.language.running.assigning import Target, assign, combine
from interpreter.language.running.run import Frame
from interpreter.language.values import Value


class AssignmentCompiler(ChainCompiler):
    """Compiles assignments. The code leaves out the operation of the statement itself."""

    def _assignment(self, node: Assignment) -> Code:
        right = self.expression(node.right)
        left = node.left
        if isinstance(left, Chain):
            return self.assignment(left, right, node.compound, node.place)
        if isinstance(left, This):
            return self._this_assignment(node, right)
        if not isinstance(left, Variable):
            return _impossible_assignment(right, left)
        target = Target(node.compound, node.place, left.name, start_of_expression(left))
        slot = None if left.path else self._slot(left)
        if slot is None:
            return self._located_assignment(left, right, target)
        if self._is_constant(slot):
            return _constant_assignment(right, target)
        if node.compound is not None:
            return _compound_assignment(slot, right, target)
        step = right.run

        def run(frame: Frame) -> Value:
            value = step(frame)
            frame[0].n += 1
            frame[slot] = value

        return Code(right.operations, run, frames=nested(right))

    def _located_assignment(self, left: Variable, right: Code, target: Target) -> Code:
        locate = self.locator(left)
        step = right.run

        def run(frame: Frame) -> Value:
            value = step(frame)
            frame[0].n += 1
            place = locate(frame)
            if not place.is_reference:
                raise constant_assigned(left.name, left.place)
            assign(frame[0], place, target, value)

        return Code(right.operations, run, frames=nested(right) + 3)

    def _this_assignment(self, node: Assignment, right: Code) -> Code:
        place = place_of_expression(node.left)
        target = Target(node.compound, node.place, "", place)
        step = right.run

        def run(frame: Frame) -> Value:
            if frame[1] is None:
                raise unbound_this(place)
            value = step(frame)
            frame[0].n += 1
            this = frame[1]
            if this.read_only:
                raise constant_assigned("", place)
            if target.compound is None:
                this.holder[this.key] = value
            else:
                combine(frame[0], this.holder, this.key, target, value)

        return Code(0, _counted(run, right.operations), frames=nested(right) + 3)


def _counted(run: Step, operations: int) -> Step:
    """A closure that counts before it runs, for code that may fail before its first part."""

    def counted(frame: Frame) -> Value:
        if frame[1] is not None:
            frame[0].n += operations
        return run(frame)

    return counted


def _impossible_assignment(right: Code, left: Expression) -> Code:
    """Folding put a constant in the place of the left side; the engine breaks down there."""
    step, place = right.run, place_of_expression(left)

    def run(frame: Frame) -> Value:
        step(frame)
        raise constant_assigned("", place)

    return Code(right.operations, run, frames=nested(right))


def _constant_assignment(right: Code, target: Target) -> Code:
    step = right.run

    def run(frame: Frame) -> Value:
        step(frame)
        frame[0].n += 1
        raise constant_assigned(target.name, target.root)

    return Code(right.operations, run, frames=nested(right))


def _compound_assignment(slot: int, right: Code, target: Target) -> Code:
    step = right.run
    fast: Any = {"+=": _add_to, "-=": _take_from}.get(target.compound or "")
    if fast is not None:
        return Code(right.operations, fast(slot, step, target), frames=nested(right) + 3)

    def run(frame: Frame) -> Value:
        value = step(frame)
        frame[0].n += 1
        combine(frame[0], frame, slot, target, value)

    return Code(right.operations, run, frames=nested(right) + 3)


def _add_to(slot: int, step: Step, target: Target) -> Step:
    def run(frame: Frame) -> Value:
        value = step(frame)
        state = frame[0]
        state.n += 1
        current = frame[slot]
        if type(current) is int and type(value) is int:
            result = current + value
            if -0x8000000000000000 <= result <= 0x7FFFFFFFFFFFFFFF:
                frame[slot] = result
                return
        combine(state, frame, slot, target, value)

    return run


def _take_from(slot: int, step: Step, target: Target) -> Step:
    def run(frame: Frame) -> Value:
        value = step(frame)
        state = frame[0]
        state.n += 1
        current = frame[slot]
        if type(current) is int and type(value) is int:
            result = current - value
            if -0x8000000000000000 <= result <= 0x7FFFFFFFFFFFFFFF:
                frame[slot] = result
                return
        combine(state, frame, slot, target, value)

    return run
