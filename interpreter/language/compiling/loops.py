"""Compiling the loops to closures: while, loop, do and for."""

from __future__ import annotations

from interpreter.language.compiling.assignments import AssignmentCompiler
from interpreter.language.compiling.code import Code, nested
from interpreter.language.failures import (
    Break,
    Continue,
    not_boolean,
    not_iterable,
)
from interpreter.language.natives.ranges import walk
from interpreter.language.parsing.traits import place_of_expression, start_of_expression
from interpreter.language.parsing.tree import (
    Block,
    DoLoop,
    For,
    While,
)
from interpreter.language.running.run import MAXIMUM_OPERATIONS, Frame
from interpreter.language.values import Value


class LoopCompiler(AssignmentCompiler):
    """Compiles loops. A body counts its own operations each time round."""

    def _while(self, node: While) -> Code:
        if node.condition is None:
            return self._loop(node.body)
        condition = self.expression(node.condition)
        body = self._block(node.body)
        test, place = condition.peek, place_of_expression(node.condition)
        test_operations, body_operations = condition.operations, body.operations
        step = body.run if node.body.statements else _nothing

        def run(frame: Frame) -> Value:
            state = frame[0]
            try:
                while True:
                    state.n += test_operations
                    if state.n > MAXIMUM_OPERATIONS:
                        state.check()
                    value = test(frame)
                    if value is False:
                        return None
                    if value is not True:
                        raise not_boolean(value, place)
                    state.n += body_operations
                    try:
                        step(frame)
                    except Continue:
                        pass
            except Break as leaving:
                return leaving.value

        return Code(0, run, frames=nested(condition, body))

    def _loop(self, block: Block) -> Code:
        body = self._block(block)
        operations = body.operations or 1
        step = body.run

        def run(frame: Frame) -> Value:
            state = frame[0]
            try:
                while True:
                    state.n += operations
                    if state.n > MAXIMUM_OPERATIONS:
                        state.check()
                    try:
                        step(frame)
                    except Continue:
                        pass
            except Break as leaving:
                return leaving.value

        return Code(0, run, frames=nested(body))

    def _do(self, node: DoLoop) -> Code:
        condition = self.expression(node.condition)
        body = self._block(node.body)
        test, place = condition.peek, place_of_expression(node.condition)
        test_operations, body_operations = condition.operations, body.operations
        step, until = body.run if node.body.statements else _nothing, node.until

        def run(frame: Frame) -> Value:
            state = frame[0]
            try:
                while True:
                    state.n += body_operations
                    if state.n > MAXIMUM_OPERATIONS:
                        state.check()
                    try:
                        step(frame)
                    except Continue:
                        # The engine goes on with the body, not with the condition.
                        continue
                    state.n += test_operations
                    value = test(frame)
                    if value is until:
                        return None
                    if type(value) is not bool:
                        raise not_boolean(value, place)
            except Break as leaving:
                return leaving.value

        return Code(0, run, frames=nested(condition, body))

    def _for(self, node: For) -> Code:
        iterable = self.expression(node.iterable)
        depth = len(self._scope)
        counter = None if node.counter is None else self._define(node.counter, False)
        slot = self._define(node.name, False)
        body = self._block(node.body)
        del self._scope[depth:]
        peek, place = iterable.peek, start_of_expression(node.iterable)
        operations = body.operations or 1
        step = body.run if node.body.statements else _nothing

        def run(frame: Frame) -> Value:
            values = walk(peek(frame))
            if values is None:
                raise not_iterable(place)
            state = frame[0]
            count = 0
            try:
                for value in values:
                    if counter is not None:
                        frame[counter] = count
                        count += 1
                    frame[slot] = value
                    state.n += operations
                    if state.n > MAXIMUM_OPERATIONS:
                        state.check()
                    try:
                        step(frame)
                    except Continue:
                        pass
            except Break as leaving:
                return leaving.value
            return None

        return Code(iterable.operations, run, frames=nested(iterable, body))


def _nothing(frame: Frame) -> Value:
    return None
