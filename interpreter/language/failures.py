"""What stops a script: errors that a script may catch, limits that it may not, and jumps.

A failure keeps the engine's name and message, because a ``catch`` block sees both.
"""

from __future__ import annotations

from interpreter.language.places import MAXIMUM_PART, NOWHERE, column_of, line_of
from interpreter.language.values import Value, full_type_name

_UNCATCHABLE = frozenset(
    {"ErrorParsing", "ErrorTooManyOperations", "ErrorStackOverflow", "ErrorDataTooLarge"}
)
_RESOURCES = frozenset({"ErrorTooManyOperations", "ErrorStackOverflow", "ErrorDataTooLarge"})


class Failure(Exception):
    """An error while a function runs.

    ``name`` is the engine's variant, ``text`` its message without a place, ``details`` what a
    ``catch`` variable holds besides. ``value`` is the value of a ``throw``, ``cause`` the failure
    inside a called function.
    """

    def __init__(
        self,
        name: str,
        text: str,
        place: int = NOWHERE,
        details: dict[str, Value] | None = None,
    ) -> None:
        super().__init__(name)
        self.name = name
        self.text = text
        self.place = place
        self.details = details or {}
        self.value: Value = None
        self.cause: Failure | None = None

    @property
    def is_system(self) -> bool:
        """Whether no script can catch it and every function passes it on as it is."""
        return self.name in _UNCATCHABLE

    @property
    def is_resource(self) -> bool:
        """Whether a limit of the profile was reached."""
        return self.name in _RESOURCES

    def at(self, place: int) -> Failure:
        """The same failure; the place is filled in when it has none."""
        if not self.place:
            self.place = place
        return self

    def innermost(self) -> Failure:
        """The failure that started it."""
        failure = self
        while failure.cause is not None:
            failure = failure.cause
        return failure

    def message(self) -> str:
        """The message as the engine words it, with the place when there is one."""
        if self.cause is not None:
            text = f"{self.cause.message()}\nin call to function '{self.text}'"
        else:
            text = self.text
        if self.place:
            text += f" (line {self.place >> 16}, position {self.place & MAXIMUM_PART})"
        return text

    def caught(self) -> Value:
        """What the variable of a ``catch`` block holds. Takes the place away."""
        first = self.innermost()
        if first.name == "ErrorRuntime":
            return first.value
        place, self.place = self.place, NOWHERE
        held: dict[str, Value] = {"message": self.message()}
        if place:
            held["line"] = line_of(place)
            held["position"] = column_of(place) or 0
        held["error"] = self.name
        held.update(self.details)
        return held


class Jump(Exception):
    """``return``: leaves the function with a value."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class Break(Exception):
    """``break``: leaves the loop with a value."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class Continue(Exception):
    """``continue``: goes on with the next round of the loop."""


def arithmetic(text: str, place: int = NOWHERE) -> Failure:
    """A number that can not be computed."""
    return Failure("ErrorArithmetic", text, place)


def too_large(what: str, place: int = NOWHERE) -> Failure:
    """A string, array or map beyond its limit."""
    return Failure("ErrorDataTooLarge", f"{what} too large", place)


def too_many_operations() -> Failure:
    """More operations than one call may take."""
    return Failure("ErrorTooManyOperations", "Too many operations")


def stack_overflow(place: int = NOWHERE) -> Failure:
    """Calls nested too deeply."""
    return Failure("ErrorStackOverflow", "Stack overflow", place)


def unknown_function(signature: str, place: int = NOWHERE) -> Failure:
    """No function of this name for these types."""
    return Failure(
        "ErrorFunctionNotFound",
        f"Function not found: {signature}",
        place,
        {"function": signature},
    )


def unknown_variable(name: str, place: int) -> Failure:
    """No variable of this name."""
    text = f"Variable not found: {name}"
    return Failure("ErrorVariableNotFound", text, place, {"variable": name})


def unknown_module(path: str, place: int) -> Failure:
    """No module of this name; the profile has none at all."""
    return Failure("ErrorModuleNotFound", f"Module not found: {path}", place, {"module": path})


def wrong_type(expected: str, actual: str, place: int = NOWHERE) -> Failure:
    """A value of another type than is needed."""
    return Failure(
        "ErrorMismatchDataType",
        f"Data type incorrect: {actual} (expecting {expected})",
        place,
        {"requested": expected, "actual": actual},
    )


def not_boolean(value: Value, place: int) -> Failure:
    """A condition that is no boolean."""
    return wrong_type("bool", full_type_name(value), place)


def constant_assigned(name: str, place: int) -> Failure:
    """A constant that would be changed."""
    return Failure(
        "ErrorAssignmentToConstant", f"Cannot modify constant {name}", place, {"variable": name}
    )


def method_on_constant(method: str, place: int) -> Failure:
    """A method that changes its object, called on a constant."""
    if method.startswith("set$"):
        text = f"Cannot modify property '{method[4:]}' of constant"
    else:
        text = f"Non-pure method '{method}' cannot be called on constant"
    return Failure("ErrorNonPureMethodCallOnConstant", text, place, {"function": method})


def unbound_this(place: int) -> Failure:
    """``this`` outside a method call."""
    return Failure("ErrorUnboundThis", "'this' not bound", place)


def not_iterable(place: int) -> Failure:
    """A ``for`` over a value that can not be walked through."""
    return Failure("ErrorFor", "For loop expects iterable type", place)


def no_indexer(what: str, place: int) -> Failure:
    """An index on a type that has none."""
    return Failure("ErrorIndexingType", f"Indexer unavailable: {what}", place, {"type": what})


def no_property(text: str, place: int) -> Failure:
    """A property that the type does not have."""
    return Failure("ErrorDotExpr", text, place, {"property": text})


def out_of_bounds(kind: str, length: int, index: int, place: int = NOWHERE) -> Failure:
    """An index outside an array, a string or the bits of an integer (``kind`` names which)."""
    if kind == "BitField":
        text = f"Bit-field index {index} out of bounds: only {length} bits in bit-field"
    else:
        unit = "element" if kind == "Array" else "character"
        holder = kind.lower()
        amount = f"only {length} {unit}s in {holder}"
        if length == 0:
            amount = f"{holder} is empty"
        elif length == 1:
            amount = f"only 1 {unit} in {holder}"
        text = f"{kind} index {index} out of bounds: {amount}"
    return Failure(f"Error{kind}Bounds", text, place, {"length": length, "index": index})


def thrown(value: Value, text: str, place: int) -> Failure:
    """The value of a ``throw``; ``text`` is the value as a message shows it."""
    failure = Failure("ErrorRuntime", f"Runtime error: {text}" if text else "Runtime error", place)
    failure.value = value
    return failure


def reserved_name(name: str, place: int = NOWHERE) -> Failure:
    """A reserved word used as the name of a function pointer."""
    return Failure("ErrorParsing", f"Syntax error: '{name}' is a reserved word", place)


def in_function(name: str, cause: Failure, place: int) -> Failure:
    """A failure inside a called function, seen from the call."""
    failure = Failure("ErrorInFunctionCall", name, place, {"function": name, "source": ""})
    failure.cause = cause
    return failure
