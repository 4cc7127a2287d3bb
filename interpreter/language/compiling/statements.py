"""Compiling statements and whole functions to closures."""

from __future__ import annotations

from typing import Any

from interpreter.language.compiling.chains import ChainCompiler
from interpreter.language.compiling.code import Code, Step, nested
from interpreter.language.failures import (
    Break,
    Continue,
    Failure,
    Jump,
    constant_assigned,
    not_boolean,
    not_iterable,
    thrown,
    unbound_this,
)
from interpreter.language.natives.ranges import walk
from interpreter.language.parsing.traits import place_of_expression, start_of_expression
from interpreter.language.parsing.tree import (
    Assignment,
    Block,
    BlockStatement,
    CallStatement,
    Chain,
    Constant,
    DoLoop,
    Empty,
    Expression,
    ExpressionStatement,
    For,
    Function,
    If,
    Let,
    LoopExit,
    Return,
    Statement,
    Switch,
    This,
    TryCatch,
    Variable,
    While,
)
from interpreter.language.running.assigning import Target, assign, combine
from interpreter.language.running.run import MAXIMUM_OPERATIONS, CompiledFunction, Frame, Key
from interpreter.language.text import display
from interpreter.language.values import Value, switch_key


def compile_functions(
    functions: list[Function],
) -> tuple[dict[Key, CompiledFunction], dict[str, CompiledFunction]]:
    """Compile folded functions: by name, arity and type of ``this``, and the first of each name."""
    compiled: dict[Key, CompiledFunction] = {}
    names: dict[str, CompiledFunction] = {}
    for function in functions:
        arity = len(function.parameters)
        entry = CompiledFunction(function.name, arity)
        compiled[function.name, arity, function.this_type] = entry
        names.setdefault(function.name, entry)
    for function in functions:
        entry = compiled[function.name, len(function.parameters), function.this_type]
        StatementCompiler(compiled, names).function(function, entry)
    return compiled, names


class StatementCompiler(ChainCompiler):
    """Compiles the statements of one function. Each code includes its own operation."""

    def function(self, function: Function, entry: CompiledFunction) -> None:
        """Compile a function into its entry."""
        for name in function.parameters:
            self._define(name, False)
        code = self._block(function.body)
        entry.is_empty = not function.body.statements
        entry.operations = code.operations
        entry.frames = code.frames + 2
        entry.run = code.run
        entry.room = [None] * (self._room - len(function.parameters))

    def _block(self, block: Block) -> Code:
        depth = len(self._scope)
        parts = [self.statement(statement) for statement in block.statements]
        del self._scope[depth:]
        return _sequence(parts)

    def statement(self, node: Statement) -> Code:
        """Compile one statement."""
        match node:
            case ExpressionStatement():
                code = self.expression(node.expression)
            case CallStatement():
                code = self._call(node.call)
            case BlockStatement():
                code = self._block(node.block)
            case Let():
                code = self._let(node)
            case Assignment():
                code = self._assignment(node)
            case If():
                code = self._if(node)
            case Switch():
                code = self._switch(node)
            case While():
                code = self._while(node)
            case DoLoop():
                code = self._do(node)
            case For():
                code = self._for(node)
            case LoopExit():
                code = self._loop_exit(node)
            case Return():
                code = self._return(node)
            case TryCatch():
                code = self._try(node)
            case Empty():
                code = Code(0, lambda frame: None)
        code.operations += 1
        return code

    # Variables ------------------------------------------------------------------------------

    def _let(self, node: Let) -> Code:
        value = self.expression(node.value)
        step = value.run
        if node.offset and node.offset <= len(self._scope):
            index = len(self._scope) - node.offset
            self._scope[index] = (self._scope[index][0], node.constant)
            slot = index + 3
        else:
            slot = self._define(node.name, node.constant)

        def run(frame: Frame) -> Value:
            frame[slot] = step(frame)

        return Code(value.operations, run, frames=nested(value))

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

    # Branches -------------------------------------------------------------------------------

    def _if(self, node: If) -> Code:
        condition = self.expression(node.condition)
        body = self._block(node.body)
        branch = self._block(node.branch)
        test, place = condition.peek, place_of_expression(node.condition)
        body_operations, body_run = body.operations, body.run
        branch_operations, branch_run = branch.operations, branch.run
        has_branch = bool(node.branch.statements)

        def run(frame: Frame) -> Value:
            value = test(frame)
            if value is True:
                frame[0].n += body_operations
                return body_run(frame)
            if value is not False:
                raise not_boolean(value, place)
            if not has_branch:
                return None
            frame[0].n += branch_operations
            return branch_run(frame)

        return Code(condition.operations, run, frames=nested(condition, body, branch))

    def _switch(self, node: Switch) -> Code:
        subject = self.expression(node.subject)
        guards = [self._guard(arm.guard) for arm in node.arms]
        results = [self.expression(arm.result) for arm in node.arms]
        arms = tuple(
            (guard, place_of_expression(arm.guard), result.operations, result.run)
            for arm, guard, result in zip(node.arms, guards, results, strict=True)
        )
        cases = {key: tuple(indexes) for key, indexes in node.cases.items()}
        ranges = tuple((case.range, case.arm) for case in node.ranges)
        default = node.default
        peek = subject.peek

        def fits(frame: Frame, arm: int) -> bool:
            guard, place, _, _ = arms[arm]
            if type(guard) is bool:
                return guard
            frame[0].n += guard.operations
            value = guard.peek(frame)
            if type(value) is not bool:
                raise not_boolean(value, place)
            return value

        def choose(frame: Frame, value: Value) -> int | None:
            key = switch_key(value)
            if key is None:
                return default
            for arm in cases.get(key, ()):
                if fits(frame, arm):
                    return arm
            if ranges and type(value) in (int, float):
                for part, arm in ranges:
                    if part.holds(value) and fits(frame, arm):
                        return arm
            return default

        def run(frame: Frame) -> Value:
            arm = choose(frame, peek(frame))
            if arm is None:
                return None
            _, _, operations, step = arms[arm]
            frame[0].n += operations
            return step(frame)

        codes = [guard for guard in guards if isinstance(guard, Code)]
        return Code(subject.operations, run, frames=nested(subject, *codes, *results) + 2)

    def _guard(self, node: Expression) -> Code | bool:
        if isinstance(node, Constant) and type(node.value) is bool:
            return node.value
        return self.expression(node)

    # Loops ----------------------------------------------------------------------------------

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

    # Jumps ----------------------------------------------------------------------------------

    def _loop_exit(self, node: LoopExit) -> Code:
        if not node.breaks:

            def go_on(frame: Frame) -> Value:
                raise Continue

            return Code(0, go_on)
        value = _optional(self, node.value)
        step = value.run

        def leave(frame: Frame) -> Value:
            raise Break(step(frame))

        return Code(value.operations, leave, frames=nested(value))

    def _return(self, node: Return) -> Code:
        value = _optional(self, node.value)
        step, place = value.run, node.place
        if node.throws:

            def throw(frame: Frame) -> Value:
                thing = step(frame)
                raise thrown(thing, display(thing), place)

            return Code(value.operations, throw, frames=nested(value))

        def leave(frame: Frame) -> Value:
            raise Jump(step(frame))

        return Code(value.operations, leave, frames=nested(value))

    def _try(self, node: TryCatch) -> Code:
        body = self._block(node.body)
        depth = len(self._scope)
        slot = None if node.name is None else self._define(node.name, False)
        branch = self._block(node.branch)
        del self._scope[depth:]
        body_operations, body_run = body.operations, body.run
        branch_operations, branch_run = branch.operations, branch.run

        def run(frame: Frame) -> Value:
            try:
                return body_run(frame)
            except Failure as failure:
                caught = failure
            frame[0].check()
            if caught.is_system:
                raise caught
            if slot is not None:
                frame[slot] = caught.caught()
            frame[0].n += branch_operations
            try:
                branch_run(frame)
            except Failure as failure:
                # Throwing nothing inside a catch block throws the caught failure again.
                if failure.name == "ErrorRuntime" and failure.value is None:
                    caught.place = failure.place
                    raise caught from None
                raise
            return None

        return Code(body_operations, run, frames=nested(body, branch))


def _nothing(frame: Frame) -> Value:
    return None


def _optional(compiler: StatementCompiler, node: Expression | None) -> Code:
    """The value of a jump; without one nothing is counted."""
    return Code(0, _nothing) if node is None else compiler.expression(node)


def _counted(run: Step, operations: int) -> Step:
    """A closure that counts before it runs, for code that may fail before its first part."""

    def counted(frame: Frame) -> Value:
        if frame[1] is not None:
            frame[0].n += operations
        return run(frame)

    return counted


def _sequence(parts: list[Code]) -> Code:
    """Statements one after the other; the value is that of the last one."""
    if not parts:
        return Code(0, _nothing)
    if len(parts) == 1:
        return parts[0]
    first, *rest = parts
    frames = nested(*parts)
    first_run = first.run
    if len(rest) == 1:
        operations, last_run = rest[0].operations, rest[0].run

        def two(frame: Frame) -> Value:
            first_run(frame)
            frame[0].n += operations
            return last_run(frame)

        return Code(first.operations, two, frames=frames)
    *middle, last = ((part.operations, part.run) for part in rest)
    middle_steps = tuple(middle)
    last_operations, last_step = last

    def many(frame: Frame) -> Value:
        first_run(frame)
        state = frame[0]
        for operations, step in middle_steps:
            state.n += operations
            step(frame)
        state.n += last_operations
        return last_step(frame)

    return Code(first.operations, many, frames=frames)


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
