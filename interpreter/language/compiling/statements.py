"""Compiling statements and whole functions to closures."""

from __future__ import annotations

from interpreter.language.compiling.code import Code, nested
from interpreter.language.compiling.loops import LoopCompiler
from interpreter.language.failures import (
    Break,
    Continue,
    Failure,
    Jump,
    not_boolean,
    thrown,
)
from interpreter.language.parsing.traits import place_of_expression
from interpreter.language.parsing.tree import (
    Assignment,
    Block,
    BlockStatement,
    CallStatement,
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
    TryCatch,
    While,
)
from interpreter.language.running.run import CompiledFunction, Frame, Key
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


class StatementCompiler(LoopCompiler):
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
