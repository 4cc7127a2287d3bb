"""What can be told of a node of the syntax tree by itself."""

from __future__ import annotations

from typing import Final

from interpreter.language.parsing.tokens import is_function_name
from interpreter.language.parsing.tree import (
    ArrayLiteral,
    Block,
    BlockExpression,
    BlockStatement,
    Call,
    CallStatement,
    Chain,
    Constant,
    DoLoop,
    Empty,
    Expression,
    ExpressionStatement,
    For,
    If,
    Interpolated,
    Let,
    Logic,
    MapLiteral,
    Statement,
    Switch,
    TryCatch,
    Variable,
    While,
)
from interpreter.language.places import NOWHERE
from interpreter.language.text import display
from interpreter.language.values import (
    INT_MAX,
    ExclusiveRange,
    FunctionPointer,
    InclusiveRange,
    Value,
    copy_value,
)

NOT_LITERAL: Final = object()
"""What ``literal_value`` gives for an expression that has to be evaluated."""


def place_of_expression(node: Expression) -> int:
    """Where an expression is: its operator for an operator, its start otherwise."""
    if isinstance(node, BlockExpression):
        return node.block.start
    return node.place


def start_of_expression(node: Expression) -> int:
    """Where the left-most part of a chain or logical expression begins; else its place."""
    while True:
        if isinstance(node, Logic):
            node = node.items[0]
        elif isinstance(node, Chain):
            node = node.left
        elif isinstance(node, Variable) and node.path:
            return node.path[0][1]
        else:
            return place_of_expression(node)


def move_expression(node: Expression, place: int) -> Expression:
    """The same node at another place."""
    if isinstance(node, BlockExpression):
        node.block.start = place
        node.block.end = NOWHERE
    else:
        node.place = place
    return node


def place_of_statement(node: Statement) -> int:
    """Where a statement is."""
    if isinstance(node, BlockStatement):
        return node.block.start
    if isinstance(node, ExpressionStatement):
        return start_of_expression(node.expression)
    if isinstance(node, CallStatement):
        return node.call.place
    return node.place


def as_block(node: Statement) -> Block:
    """A statement as the block it stands for."""
    if isinstance(node, BlockStatement):
        return node.block
    if isinstance(node, Empty):
        return Block([], node.place, node.place)
    return Block([node], place_of_statement(node))


def is_unit(node: Expression) -> bool:
    """Whether the expression is the literal ``()``."""
    return type(node) is Constant and node.value is None


def is_boolean(node: Expression, value: bool) -> bool:
    """Whether the expression is this boolean literal."""
    return type(node) is Constant and node.value is value


def is_constant(node: Expression) -> bool:
    """Whether the value is known at compile time."""
    kind = type(node)
    if kind is Constant:
        return True
    if isinstance(node, Interpolated):
        return all(is_constant(part) for part in node.parts)
    if isinstance(node, ArrayLiteral):
        return all(is_constant(item) for item in node.items)
    if isinstance(node, MapLiteral):
        return all(is_constant(value) for _, value in node.entries)
    return False


def is_pure(node: Expression) -> bool:
    """Whether evaluating has no effect; reading a variable is taken for an effect."""
    if isinstance(node, Interpolated):
        return all(is_pure(part) for part in node.parts)
    if isinstance(node, ArrayLiteral):
        return all(is_pure(item) for item in node.items)
    if isinstance(node, MapLiteral):
        return all(is_pure(value) for _, value in node.entries)
    if isinstance(node, Logic):
        return all(is_pure(item) for item in node.items)
    if isinstance(node, BlockExpression):
        return all(is_pure_statement(statement) for statement in node.block.statements)
    return isinstance(node, Constant)


def _is_pure_switch(node: Switch) -> bool:
    if node.default is None or not is_pure(node.subject):
        return False
    used = [index for indexes in node.cases.values() for index in indexes]
    used += [case.arm for case in node.ranges]
    if not all(is_pure(node.arms[i].guard) and is_pure(node.arms[i].result) for i in used):
        return False
    return is_pure(node.arms[node.default].result)


def is_pure_statement(node: Statement) -> bool:
    """Whether running the statement has no effect at all."""
    match node:
        case Empty():
            return True
        case ExpressionStatement():
            return is_pure(node.expression)
        case If():
            return is_pure(node.condition) and _all_pure(node.body) and _all_pure(node.branch)
        case Switch():
            return _is_pure_switch(node)
        case While():
            return node.condition is not None and is_boolean(node.condition, False)
        case DoLoop():
            return is_boolean(node.condition, node.until) and _all_pure(node.body)
        case For():
            return is_pure(node.iterable) and _all_pure(node.body)
        case BlockStatement():
            return _all_pure(node.block)
        case TryCatch():
            return node.name is None and _all_pure(node.body) and _all_pure(node.branch)
    return False


def _all_pure(block: Block) -> bool:
    return all(is_pure_statement(statement) for statement in block.statements)


def is_pure_inside(node: Statement) -> bool:
    """Whether no effect is left when the block around the statement ends."""
    if isinstance(node, Let):
        return is_pure(node.value)
    if isinstance(node, ExpressionStatement) and isinstance(node.expression, BlockExpression):
        return all(is_pure_inside(inner) for inner in node.expression.block.statements)
    return is_pure_statement(node)


def gives_value(node: Statement) -> bool:
    """Whether the value of the statement may be the value of its block."""
    return isinstance(node, If | Switch | BlockStatement | ExpressionStatement | CallStatement)


def ends_itself(node: Statement) -> bool:
    """Whether no semicolon is needed after the statement."""
    return isinstance(node, If | Switch | While | For | BlockStatement | TryCatch)


def depends_on_block(node: Statement) -> bool:
    """Whether moving the statement to an outer block would change what it means."""
    if isinstance(node, Let):
        return True
    if isinstance(node, ExpressionStatement) and isinstance(node.expression, BlockExpression):
        return all(depends_on_block(inner) for inner in node.expression.block.statements)
    return False


def literal_value(node: Expression) -> Value:
    """The value of a literal, a literal range or ``Fn("name")``, or NOT_LITERAL."""
    match node:
        case Constant():
            return copy_value(node.value)
        case ArrayLiteral() if is_constant(node):
            return [literal_value(item) for item in node.items]
        case MapLiteral() if is_constant(node):
            return {name: literal_value(value) for name, value in node.entries}
        case Interpolated() if is_constant(node):
            return "".join(display(literal_value(part)) for part in node.parts)
        case Call() if not node.path:
            return _literal_call(node)
    return NOT_LITERAL


def _literal_call(node: Call) -> Value:
    arguments = node.arguments
    if len(arguments) == 1 and node.name == "Fn":
        only = arguments[0]
        if isinstance(only, Constant) and type(only.value) is str:
            if is_function_name(only.value):
                return FunctionPointer(only.value)
        return NOT_LITERAL
    if len(arguments) == 2 and node.name in ("..", "..="):
        left, right = arguments
        if isinstance(left, Constant) and isinstance(right, Constant):
            return literal_range(node.name, left.value, right.value)
    return NOT_LITERAL


def literal_range(symbol: str, start: Value, end: Value) -> Value:
    """The range between two integers, either of which may be left out, or NOT_LITERAL."""
    if type(start) is int and end is None:
        end = INT_MAX
    elif start is None and type(end) is int:
        start = 0
    if type(start) is not int or type(end) is not int:
        return NOT_LITERAL
    return ExclusiveRange(start, end) if symbol == ".." else InclusiveRange(start, end)
