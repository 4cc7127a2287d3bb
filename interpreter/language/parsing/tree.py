"""The syntax tree. Nodes are mutable because the folding pass rewrites them in place.

Every ``place`` is packed as ``places.place_of`` packs it.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from interpreter.language.places import NOWHERE
from interpreter.language.values import (
    ExclusiveRange,
    InclusiveRange,
    Value,
)

Path: TypeAlias = tuple[tuple[str, int], ...]
"""Module names before ``::`` with their places; empty for a plain name."""


class Constant:
    """A value known at compile time; containers, ranges and function pointers included."""

    __slots__ = ("place", "value")

    def __init__(self, value: Value, place: int) -> None:
        self.value = value
        self.place = place


class Interpolated:
    """A back-tick string: its parts in order."""

    __slots__ = ("parts", "place")

    def __init__(self, parts: list[Expression], place: int) -> None:
        self.parts = parts
        self.place = place


class ArrayLiteral:
    """``[a, b]``"""

    __slots__ = ("items", "place")

    def __init__(self, items: list[Expression], place: int) -> None:
        self.items = items
        self.place = place


class MapLiteral:
    """``#{a: b}``: names and expressions in source order."""

    __slots__ = ("entries", "place")

    def __init__(self, entries: list[tuple[str, Expression]], place: int) -> None:
        self.entries = entries
        self.place = place


class Variable:
    """A name read; ``offset`` counts from the top of the scope (1 is the newest), 0 is unknown."""

    __slots__ = ("name", "offset", "path", "place")

    def __init__(self, name: str, offset: int, place: int, path: Path = ()) -> None:
        self.name = name
        self.offset = offset
        self.path = path
        self.place = place


class This:
    """``this``, the object of a method call."""

    __slots__ = ("place",)

    def __init__(self, place: int) -> None:
        self.place = place


class Property:
    """``name`` after a dot."""

    __slots__ = ("name", "place")

    def __init__(self, name: str, place: int) -> None:
        self.name = name
        self.place = place


class Call:
    """A function call or an operator (``operator`` is then its symbol)."""

    __slots__ = ("arguments", "captures", "name", "operator", "path", "place")

    def __init__(
        self,
        name: str,
        arguments: list[Expression],
        place: int,
        *,
        operator: str | None = None,
        captures: bool = False,
        path: Path = (),
    ) -> None:
        self.name = name
        self.arguments = arguments
        self.place = place
        self.operator = operator
        self.captures = captures
        self.path = path


class MethodCall:
    """``name(arguments)`` after a dot."""

    __slots__ = ("arguments", "name", "place")

    def __init__(self, name: str, arguments: list[Expression], place: int) -> None:
        self.name = name
        self.arguments = arguments
        self.place = place


class Chain:
    """``left.right`` or ``left[right]``.

    A longer chain nests on the right: ``a.b.c`` is ``a . (b . c)``. ``optional`` is ``?.`` or
    ``?[``; ``last`` ends an index chain, so that its right side is an index and no further link.
    """

    __slots__ = ("dotted", "last", "left", "optional", "place", "right")

    def __init__(
        self,
        dotted: bool,
        left: Expression,
        right: Expression,
        place: int,
        *,
        optional: bool = False,
        last: bool = False,
    ) -> None:
        self.dotted = dotted
        self.left = left
        self.right = right
        self.place = place
        self.optional = optional
        self.last = last


class Logic:
    """``&&``, ``||`` or ``??`` over two or more operands."""

    __slots__ = ("items", "kind", "place")

    def __init__(self, kind: str, items: list[Expression], place: int) -> None:
        self.kind = kind
        self.items = items
        self.place = place


class BlockExpression:
    """A block, or a statement such as ``if``, used as an expression."""

    __slots__ = ("block",)

    def __init__(self, block: Block) -> None:
        self.block = block


Expression: TypeAlias = (
    Constant
    | Interpolated
    | ArrayLiteral
    | MapLiteral
    | Variable
    | This
    | Property
    | Call
    | MethodCall
    | Chain
    | Logic
    | BlockExpression
)


class Block:
    """Statements between braces, or one statement that stands where a block may stand."""

    __slots__ = ("end", "start", "statements")

    def __init__(self, statements: list[Statement], start: int, end: int = NOWHERE) -> None:
        self.statements = statements
        self.start = start
        self.end = end


class Empty:
    """A statement that does nothing."""

    __slots__ = ("place",)

    def __init__(self, place: int) -> None:
        self.place = place


class If:
    """``if condition {} else {}``"""

    __slots__ = ("body", "branch", "condition", "place")

    def __init__(self, condition: Expression, body: Block, branch: Block, place: int) -> None:
        self.condition = condition
        self.body = body
        self.branch = branch
        self.place = place


class RangeCase:
    """A range before ``=>``: the range and the index of its arm."""

    __slots__ = ("arm", "range")

    def __init__(self, cases: ExclusiveRange | InclusiveRange, arm: int) -> None:
        self.range = cases
        self.arm = arm


class Arm:
    """One arm of a switch: its guard and its result."""

    __slots__ = ("guard", "result")

    def __init__(self, guard: Expression, result: Expression) -> None:
        self.guard = guard
        self.result = result


class Switch:
    """``switch``: arms, the arms of each literal (by switch key), of ranges, and the default."""

    __slots__ = ("arms", "cases", "default", "place", "ranges", "subject")

    def __init__(self, subject: Expression, place: int) -> None:
        self.subject = subject
        self.place = place
        self.arms: list[Arm] = []
        self.cases: dict[Any, list[int]] = {}
        self.ranges: list[RangeCase] = []
        self.default: int | None = None


class While:
    """``while condition {}``; a ``loop`` has no condition."""

    __slots__ = ("body", "condition", "place")

    def __init__(self, condition: Expression | None, body: Block, place: int) -> None:
        self.condition = condition
        self.body = body
        self.place = place


class DoLoop:
    """``do {} while condition`` or ``do {} until condition``."""

    __slots__ = ("body", "condition", "place", "until")

    def __init__(self, condition: Expression, body: Block, until: bool, place: int) -> None:
        self.condition = condition
        self.body = body
        self.until = until
        self.place = place


class For:
    """``for name in iterable {}`` or ``for (name, counter) in iterable {}``."""

    __slots__ = ("body", "counter", "iterable", "name", "place")

    def __init__(
        self, name: str, counter: str | None, iterable: Expression, body: Block, place: int
    ) -> None:
        self.name = name
        self.counter = counter
        self.iterable = iterable
        self.body = body
        self.place = place


class Let:
    """``let`` or ``const``; ``offset`` is the variable of this block it takes over, or 0."""

    __slots__ = ("constant", "name", "offset", "place", "value")

    def __init__(
        self, name: str, value: Expression, offset: int, constant: bool, place: int
    ) -> None:
        self.name = name
        self.value = value
        self.offset = offset
        self.constant = constant
        self.place = place


class Assignment:
    """``left = right`` or a compound such as ``left += right`` (``compound`` is ``+=`` then)."""

    __slots__ = ("compound", "left", "place", "right")

    def __init__(
        self, compound: str | None, left: Expression, right: Expression, place: int
    ) -> None:
        self.compound = compound
        self.left = left
        self.right = right
        self.place = place


class CallStatement:
    """A call that is a statement by itself."""

    __slots__ = ("call",)

    def __init__(self, call: Call) -> None:
        self.call = call


class BlockStatement:
    """A block that is a statement by itself."""

    __slots__ = ("block",)

    def __init__(self, block: Block) -> None:
        self.block = block


class TryCatch:
    """``try {} catch (name) {}``"""

    __slots__ = ("body", "branch", "name", "place")

    def __init__(self, body: Block, name: str | None, branch: Block, place: int) -> None:
        self.body = body
        self.name = name
        self.branch = branch
        self.place = place


class ExpressionStatement:
    """An expression that is a statement."""

    __slots__ = ("expression",)

    def __init__(self, expression: Expression) -> None:
        self.expression = expression


class LoopExit:
    """``break value`` or ``continue``."""

    __slots__ = ("breaks", "place", "value")

    def __init__(self, value: Expression | None, breaks: bool, place: int) -> None:
        self.value = value
        self.breaks = breaks
        self.place = place


class Return:
    """``return value`` or ``throw value``."""

    __slots__ = ("place", "throws", "value")

    def __init__(self, value: Expression | None, throws: bool, place: int) -> None:
        self.value = value
        self.throws = throws
        self.place = place


Statement: TypeAlias = (
    Empty
    | If
    | Switch
    | While
    | DoLoop
    | For
    | Let
    | Assignment
    | CallStatement
    | BlockStatement
    | TryCatch
    | ExpressionStatement
    | LoopExit
    | Return
)


class Function:
    """A function of the source; ``this_type`` restricts the object of a method call."""

    __slots__ = ("body", "name", "parameters", "place", "public", "this_type")

    def __init__(
        self,
        name: str,
        parameters: list[str],
        body: Block,
        place: int,
        *,
        public: bool,
        this_type: str | None,
    ) -> None:
        self.name = name
        self.parameters = parameters
        self.body = body
        self.place = place
        self.public = public
        self.this_type = this_type
