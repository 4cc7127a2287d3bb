"""How property, index and method links are put together into one chain."""

from __future__ import annotations

from collections.abc import Callable

from interpreter.language.parsing.tree import (
    Call,
    Chain,
    Expression,
    MethodCall,
    Property,
    Variable,
)


def as_property(node: Expression) -> Expression:
    """A plain name after a dot is a property."""
    if isinstance(node, Variable):
        return Property(node.name, node.place)
    return node


def dot(
    left: Expression,
    right: Expression,
    left_ends: bool,
    optional: bool,
    place: int,
    refuse: Callable[[str, int], Exception],
) -> Expression:
    """``left . right``, with the link put behind the last index of an index chain.

    ``left_ends`` says that the left side is complete in itself, so that an index chain in it stays
    closed. ``refuse(message, place)`` makes the error for what can not stand after a dot.
    """
    if isinstance(left, Chain) and not left.dotted and not left_ends:
        left.right = dot(left.right, right, left.last, optional, place, refuse)
        left.optional = left.last = False
        return left
    if isinstance(right, Call):
        if right.captures:
            raise refuse("a method can not run in the scope of its caller", right.place)
        right = _method(right)
    elif isinstance(right, Chain):
        inner = right.left
        head = _method(inner) if isinstance(inner, Call) else as_property(inner)
        right = Chain(
            right.dotted, head, right.right, right.place, optional=right.optional, last=right.last
        )
    else:
        right = as_property(right)
    return Chain(True, left, right, place, optional=optional)


def _method(call: Call) -> MethodCall:
    return MethodCall(call.name, call.arguments, call.place)


def joined(outer: Chain) -> Expression:
    """A chain whose left side is a chain, as one chain: ``(a.b).c`` is ``a . (b . c)``."""
    root = outer.left
    if not isinstance(root, Chain):
        return outer
    tail = root
    while not tail.last and isinstance(tail.right, Chain):
        tail = tail.right
    tail.last = False
    outer.left = tail.right
    tail.right = outer
    return root
