"""Assignment to a place, plain or compound, as a run does it."""

from __future__ import annotations

from typing import NamedTuple

from interpreter.language import operators
from interpreter.language.failures import Failure, constant_assigned
from interpreter.language.parsing.tokens import COMPOUND
from interpreter.language.running.run import Place, Run, call_native, check_size
from interpreter.language.values import Value


class Target(NamedTuple):
    """What is known of an assignment before it runs.

    ``compound`` is None or a symbol such as ``+=``; ``place`` is where the operator stands;
    ``name`` and ``root`` are the variable at the root of the left side and where it begins.
    """

    compound: str | None
    place: int
    name: str
    root: int


def assign(run: Run, place: Place, target: Target, value: Value) -> None:
    """Put a value at a place, or combine it with what stands there."""
    if place.read_only:
        raise constant_assigned(target.name, target.root)
    if target.compound is None:
        place.holder[place.key] = value
    else:
        combine(run, place.holder, place.key, target, value)
    if place.propagate is not None:
        place.propagate(target.place)


def combine(run: Run, holder: Value, key: Value, target: Target, value: Value) -> None:
    """``holder[key] op= value``"""
    current = holder[key]
    symbol = target.compound or ""
    operation = operators.compound(symbol, current, value)
    if operation is not None:
        try:
            holder[key] = operation(current, value)
        except Failure as failure:
            raise failure.at(target.place) from None
    elif type(current) is list and symbol == "+=":
        _extend(current, value, target.place)
    else:
        _combine_natively(run, holder, key, target, value)


def _extend(array: list[Value], value: Value, place: int) -> None:
    # The engine checks an array before it adds another array, and after it adds an item.
    if type(value) is list:
        if value and array:
            check_size(array, place)
        array.extend(value)
    else:
        array.append(value)
        check_size(array, place)


def _combine_natively(run: Run, holder: Value, key: Value, target: Target, value: Value) -> None:
    symbol = target.compound or ""
    arguments = [holder[key], value]
    try:
        call_native(run, symbol, arguments, target.place, by_reference=True, operator=symbol)
    except Failure as failure:
        if failure.name != "ErrorFunctionNotFound":
            raise
        if not failure.details["function"].startswith(symbol):
            raise
        operator = COMPOUND[symbol]
        holder[key] = call_native(
            run, operator, arguments, target.place, by_reference=True, operator=operator
        )[0]
    check_size(holder[key])
