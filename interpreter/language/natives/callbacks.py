"""How native functions call function pointers: which arguments they offer, and in what order."""

from __future__ import annotations

from typing import Any

from interpreter.language.failures import Failure, in_function, reserved_name, unknown_function
from interpreter.language.parsing.tokens import is_function_name, is_reserved
from interpreter.language.places import NOWHERE
from interpreter.language.running.run import Place, call_pointer
from interpreter.language.values import FunctionPointer, Value, copy_value


def pointer_to(name: str) -> FunctionPointer:
    """A function pointer by name. Raises the failure for what is no name of a function."""
    if is_function_name(name):
        return FunctionPointer(name)
    if is_reserved(name):
        raise reserved_name(name)
    raise unknown_function(name)


class Callback:
    """A function pointer that a native function calls for each of its items.

    ``caller`` is the name in messages. ``position`` is where the item goes among the arguments
    when the function takes it as an argument and not as ``this``; None if it never does.
    """

    def __init__(
        self, run: Any, place: int, pointer: FunctionPointer, caller: str, position: int | None
    ) -> None:
        self._run = run
        self._place = place
        self._pointer = pointer
        self._caller = caller
        self._position = position

    def __call__(self, this: Place | None, arguments: list[Value], extras: list[Value]) -> Value:
        """Call it: with the item as ``this``, else as an argument, else with the extras too."""
        try:
            attempts = self._fitting(this, arguments, extras)
            if attempts is not None:
                return self._attempt(*attempts)
            return self._first_known(this, arguments, extras)
        except Failure as failure:
            raise in_function(self._caller, failure, NOWHERE) from None

    def _attempt(self, this: Place | None, arguments: list[Value]) -> Value:
        return call_pointer(self._run, self._pointer, arguments, self._place, this)

    def _with_item(self, this: Place, arguments: list[Value]) -> list[Value]:
        position = self._position or 0
        item = copy_value(this.holder[this.key])
        return [*arguments[:position], item, *arguments[position:]]

    def _fitting(
        self, this: Place | None, arguments: list[Value], extras: list[Value]
    ) -> tuple[Place | None, list[Value]] | None:
        """What fits the number of parameters, for a pointer that knows it."""
        if self._pointer.arity is None:
            return None
        wanted = self._pointer.arity - len(self._pointer.bound)
        if wanted == len(arguments):
            return this, arguments
        if this is not None and self._position is not None:
            if wanted == len(arguments) + 1:
                return None, self._with_item(this, arguments)
            if wanted == len(arguments) + len(extras) + 1:
                return None, self._with_item(this, [*arguments, *extras])
        if wanted == len(arguments) + len(extras):
            return this, [*arguments, *extras]
        return None

    def _first_known(
        self, this: Place | None, arguments: list[Value], extras: list[Value]
    ) -> Value:
        """Try one list of arguments after the other until a function is found."""
        attempts: list[tuple[Place | None, list[Value]]] = [(this, list(arguments))]
        movable = this is not None and self._position is not None
        if movable and this is not None:
            attempts.append((None, self._with_item(this, arguments)))
            attempts.append((None, self._with_item(this, [*arguments, *extras])))
        else:
            attempts.append((this, [*arguments, *extras]))
        *first, last = attempts
        for attempt in first:
            try:
                return self._attempt(attempt[0], list(map(copy_value, attempt[1])))
            except Failure as failure:
                if failure.name != "ErrorFunctionNotFound":
                    raise
                if not failure.details["function"].startswith(self._pointer.name):
                    raise
        return self._attempt(*last)
