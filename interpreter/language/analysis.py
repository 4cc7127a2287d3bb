"""What can be told of a program without running it: strings it returns, functions it reaches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from interpreter.language.parsing.tree import (
    ArrayLiteral,
    Assignment,
    Block,
    BlockExpression,
    BlockStatement,
    Call,
    CallStatement,
    Chain,
    Constant,
    DoLoop,
    Expression,
    ExpressionStatement,
    For,
    Function,
    If,
    Interpolated,
    Let,
    Logic,
    LoopExit,
    MapLiteral,
    MethodCall,
    Return,
    Statement,
    Switch,
    TryCatch,
    Variable,
    While,
)


class _Unknown(Exception):
    """The value can not be told."""


def returned_strings(functions: list[Function]) -> dict[str, frozenset[str] | None]:
    """The string literals each function can return, by name; None when it can not be told."""
    by_name: dict[str, list[Function]] = {}
    for function in functions:
        by_name.setdefault(function.name, []).append(function)
    return {name: _strings_of(name, by_name) for name in by_name}


def _strings_of(name: str, by_name: dict[str, list[Function]]) -> frozenset[str] | None:
    if len(by_name[name]) > 1:
        return None
    try:
        return frozenset(_Strings(by_name, (name,)).of_function(by_name[name][0]))
    except _Unknown:
        return None


class _Strings:
    """Collects the strings that can be the value of a piece of syntax."""

    def __init__(self, by_name: dict[str, list[Function]], active: tuple[str, ...]) -> None:
        self._by_name = by_name
        self._active = active

    def of_function(self, function: Function) -> set[str]:
        found = self._of_block(function.body)
        for node in walk_block(function.body):
            if isinstance(node, Return) and not node.throws:
                found |= self._of_optional(node.value)
        return found

    def _of_optional(self, node: Expression | None) -> set[str]:
        if node is None:
            raise _Unknown
        return self._of_expression(node)

    def _of_block(self, block: Block) -> set[str]:
        if not block.statements:
            raise _Unknown
        return self._of_statement(block.statements[-1])

    def _of_statement(self, node: Statement) -> set[str]:
        match node:
            case Return():
                # Its value is collected for the whole function.
                return set()
            case ExpressionStatement():
                return self._of_expression(node.expression)
            case BlockStatement():
                return self._of_block(node.block)
            case If():
                return self._of_block(node.body) | self._of_block(node.branch)
            case Switch():
                if node.default is None:
                    raise _Unknown
                found: set[str] = set()
                for arm in node.arms:
                    found |= self._of_expression(arm.result)
                return found
        raise _Unknown

    def _of_expression(self, node: Expression) -> set[str]:
        if isinstance(node, Constant) and type(node.value) is str:
            return {node.value}
        if isinstance(node, BlockExpression):
            return self._of_block(node.block)
        if isinstance(node, Logic) and node.kind == "??":
            return set().union(*(self._of_expression(item) for item in node.items))
        if isinstance(node, Call) and node.operator is None and not node.path:
            return self._of_call(node)
        raise _Unknown

    def _of_call(self, node: Call) -> set[str]:
        known = self._by_name.get(node.name, [])
        if len(known) != 1 or node.name in self._active:
            raise _Unknown
        if len(known[0].parameters) != len(node.arguments) or known[0].this_type is not None:
            raise _Unknown
        return _Strings(self._by_name, (*self._active, node.name)).of_function(known[0])


class Mentions:
    """Which functions a function may call.

    A name that stands as a variable, and a string equal to a name (which may become a function
    pointer), count as a use.
    """

    def __init__(self, functions: list[Function]) -> None:
        self.known = frozenset(function.name for function in functions)
        self._mentions: dict[str, set[str]] = {name: set() for name in self.known}
        for function in functions:
            self._mentions[function.name] |= _mentioned(function) & self.known

    def reached(self, names: Iterable[str]) -> frozenset[str]:
        """Names of the functions that calls of the given ones can reach, themselves included."""
        reached: set[str] = set()
        pending = [name for name in names if name in self.known]
        while pending:
            name = pending.pop()
            if name not in reached:
                reached.add(name)
                pending.extend(self._mentions[name])
        return frozenset(reached)


def _mentioned(function: Function) -> set[str]:
    found: set[str] = set()
    for node in walk_block(function.body):
        if isinstance(node, Call | MethodCall | Variable):
            found.add(node.name)
        elif isinstance(node, Constant) and type(node.value) is str:
            found.add(node.value)
    return found


def walk_block(block: Block) -> Iterator[Expression | Statement]:
    """Every statement and expression inside a block."""
    pending: list[Expression | Statement] = list(block.statements)
    while pending:
        node = pending.pop()
        yield node
        pending.extend(_inside(node))


def _inside(node: Expression | Statement) -> list[Expression | Statement]:
    """The parts right below a node."""
    match node:
        case Interpolated():
            return list(node.parts)
        case ArrayLiteral() | Logic():
            return list(node.items)
        case MapLiteral():
            return [value for _, value in node.entries]
        case Call() | MethodCall():
            return list(node.arguments)
        case Chain() | Assignment():
            return [node.left, node.right]
        case BlockExpression() | BlockStatement():
            return list(node.block.statements)
        case If():
            return [node.condition, *node.body.statements, *node.branch.statements]
        case Switch():
            arms = [part for arm in node.arms for part in (arm.guard, arm.result)]
            return [node.subject, *arms]
        case While() | DoLoop():
            head = [node.condition] if node.condition is not None else []
            return [*head, *node.body.statements]
        case For():
            return [node.iterable, *node.body.statements]
        case TryCatch():
            return [*node.body.statements, *node.branch.statements]
        case Let():
            return [node.value]
        case ExpressionStatement():
            return [node.expression]
        case CallStatement():
            return [node.call]
        case LoopExit() | Return() if node.value is not None:
            return [node.value]
    return []
