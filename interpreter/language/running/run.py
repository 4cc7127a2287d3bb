"""A run: what one call of the program counts, and how functions of either kind are called.

The engine gives a native function a copy of its counters, so that operations inside a callback do
not add up afterwards; but the last count it saw is the one it reports. ``Run.reported`` keeps that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from interpreter.language import operators
from interpreter.language.failures import (
    Failure,
    Jump,
    in_function,
    method_on_constant,
    stack_overflow,
    too_large,
    too_many_operations,
    unknown_function,
    wrong_type,
)
from interpreter.language.natives.registry import Native, find
from interpreter.language.parsing.tokens import is_word
from interpreter.language.places import NOWHERE
from interpreter.language.values import (
    MAXIMUM_ARRAY,
    MAXIMUM_MAP,
    MAXIMUM_STRING,
    FunctionPointer,
    Value,
    copy_value,
    full_type_name,
    sizes,
    type_name,
)

MAXIMUM_OPERATIONS = 100_000
MAXIMUM_LEVEL = 32

MAXIMUM_WORK = 2_000_000
"""Operations of one call with those inside callbacks, which the engine does not add up."""

MAXIMUM_FRAMES = 850
"""Python frames of one call, so that no source reaches the limit of the interpreter."""

Frame: TypeAlias = list[Any]
"""One activation: the run, ``this`` (a Place or None), the scope behind it, then the variables."""

Key: TypeAlias = tuple[str, int, str | None]


class CompiledFunction:
    """A function of the source, ready to run. ``run`` expects ``operations`` to be counted."""

    __slots__ = ("frames", "is_empty", "name", "operations", "parameters", "room", "run")

    def __init__(self, name: str, parameters: int) -> None:
        self.name = name
        self.parameters = parameters
        self.is_empty = True
        self.operations = 0
        self.frames = 0
        self.room: list[Value] = []
        self.run: Callable[[Frame], Value] = lambda frame: None


class Place:
    """Where a value stands: ``holder[key]``.

    ``is_reference``: changing it changes a variable or what is inside one. ``read_only``: it
    belongs to a constant. ``propagate`` writes a part of a number or string back to its whole.
    """

    __slots__ = ("holder", "is_reference", "key", "propagate", "read_only")

    def __init__(
        self,
        holder: Any,
        key: Any,
        *,
        is_reference: bool = False,
        read_only: bool = False,
        propagate: Callable[[int], None] | None = None,
    ) -> None:
        self.holder = holder
        self.key = key
        self.is_reference = is_reference
        self.read_only = read_only
        self.propagate = propagate

    @property
    def is_temporary(self) -> bool:
        """Whether the value belongs to nobody."""
        return not self.is_reference and self.propagate is None


def temporary(value: Value) -> Place:
    """A place for a value that belongs to nobody."""
    return Place([value], 0)


class Run:
    """The counters of one call."""

    __slots__ = (
        "_loose", "_tail_at", "_tail_count", "_work", "frames", "functions", "level", "n", "names",
        "read_only",
    )  # fmt: skip

    def __init__(
        self, functions: dict[Key, CompiledFunction], names: dict[str, CompiledFunction]
    ) -> None:
        self.functions = functions
        self.names = names
        self.n = 0
        self.level = 0
        self.frames = 0
        # Whether the native function that runs now was called on a constant.
        self.read_only = False
        # Maps that belong to a constant, with the names added to them since.
        self._loose: dict[int, tuple[dict[str, Value], set[str]]] = {}
        self._tail_at = -1
        self._tail_count = 0
        self._work = 0

    def check(self) -> None:
        """Raise the failure when too many operations were counted."""
        if self.n > MAXIMUM_OPERATIONS:
            raise too_many_operations()

    def reported(self) -> int:
        """The count that the engine saw last."""
        return self._tail_count if self._tail_at == self.n else self.n

    def ended_with(self, more: int) -> None:
        """Note that a native function counted ``more`` on a copy of the counter at its end."""
        self._tail_at = self.n
        self._tail_count = min(self.n + more, MAXIMUM_OPERATIONS)

    def can_count(self, more: int) -> bool:
        """Whether so many more operations are allowed."""
        return self.n + more <= MAXIMUM_OPERATIONS

    def loosen(self, entries: dict[str, Value], name: str) -> None:
        """Note that a property was added to a map that belongs to a constant."""
        self._loose.setdefault(id(entries), (entries, set()))[1].add(name)

    def is_loose(self, entries: dict[str, Value], name: str) -> bool:
        """Whether a property came into a constant map later, so that it may be changed."""
        known = self._loose.get(id(entries))
        return known is not None and name in known[1]

    def detached(self, place: int, action: Callable[[], Value]) -> Value:
        """Run a callback on a copy of the counters; ``place`` is where it is called from."""
        before = self.n
        level = self.level
        frames = self.frames
        try:
            value = action()
        finally:
            self._work += max(self.n - before, 0)
            over = self.n > MAXIMUM_OPERATIONS
            last = min(self.reported(), MAXIMUM_OPERATIONS)
            self.n, self.level, self.frames = before, level, frames
            self._tail_at, self._tail_count = before, last
            if over or self._work > MAXIMUM_WORK:
                raise too_many_operations().at(place)
        return value


def check_size(value: Value, place: int = NOWHERE) -> None:
    """Raise the failure when a value is larger than the profile allows."""
    kind = type(value)
    if kind is str:
        if len(value) * 4 <= MAXIMUM_STRING:
            return
    elif (kind is not list and kind is not dict) or not value:
        return
    items, entries, characters = sizes(value)
    if characters > MAXIMUM_STRING:
        raise too_large("Length of string", place)
    if items > MAXIMUM_ARRAY:
        raise too_large("Size of array/BLOB", place)
    if entries > MAXIMUM_MAP:
        raise too_large("Size of object map", place)


def signature(name: str, arguments: list[Value]) -> str:
    """A call as the engine words it: the name and the types."""
    names = (
        "&str | ImmutableString | String" if type(value) is str else type_name(value)
        for value in arguments
    )
    return f"{name} ({', '.join(names)})"


# Functions of the source ----------------------------------------------------------------------


def call_function(
    run: Run,
    function: CompiledFunction,
    arguments: list[Value],
    place: int,
    this: Place | None = None,
    behind: Any = None,
) -> Value:
    """Run a function of the source with arguments that nobody else holds."""
    run.n += 1
    if run.n > MAXIMUM_OPERATIONS:
        raise too_many_operations()
    if run.level > MAXIMUM_LEVEL:
        raise stack_overflow(place)
    if function.is_empty:
        return None
    run.frames += function.frames
    if run.frames > MAXIMUM_FRAMES:
        raise stack_overflow(place)
    run.n += function.operations
    try:
        return function.run([run, this, behind, *arguments, *function.room])
    except Jump as jump:
        return jump.value
    except Failure as failure:
        if failure.is_system:
            failure.place = place
            raise
        raise in_function(function.name, failure, place) from None
    finally:
        run.frames -= function.frames


def syntactic(run: Run, name: str, arguments: list[Value], place: int) -> tuple[bool, Value]:
    """The few functions that belong to the language itself: was it one, and its value."""
    if name not in _SYNTACTIC:
        return False, None
    count = len(arguments)
    if name == "type_of" and count == 1:
        return True, type_name(arguments[0])
    if name == "is_shared" and count == 1:
        return True, False
    if name == "is_def_fn" and count in (2, 3):
        return True, _is_defined(run, arguments, place)
    raise unknown_function(signature(name, arguments), place)


_SYNTACTIC = frozenset({"type_of", "is_shared", "is_def_fn", "is_def_var", "Fn", "call", "curry"})


def _is_defined(run: Run, arguments: list[Value], place: int) -> bool:
    *texts, count = arguments
    for text in texts:
        if type(text) is not str:
            raise wrong_type("string", full_type_name(text), place)
    if type(count) is not int:
        raise wrong_type("i64", full_type_name(count), place)
    this_type = texts[0] if len(texts) == 2 else None
    return (texts[-1], count, this_type) in run.functions


def call_by_name(
    run: Run,
    name: str,
    arguments: list[Value],
    place: int,
    *,
    by_reference: bool = False,
    read_only: bool = False,
    this: Place | None = None,
    native_only: bool = False,
    operator: str | None = None,
    behind: Any = None,
) -> tuple[Value, bool]:
    """Call what a name means for these arguments: the value, and whether a method was called.

    ``this`` makes it a method call: the object is its place and also the first argument.
    ``by_reference``: the first argument is still held by a variable.
    """
    known, value = syntactic(run, name, arguments, place)
    if known:
        return value, False
    run.level += 1
    try:
        if not native_only:
            function = _script_function(run, name, arguments, this)
            if function is not None:
                if function.is_empty:
                    return None, False
                if this is not None:
                    return call_function(run, function, arguments[1:], place, this), False
                if by_reference:
                    arguments[0] = copy_value(arguments[0])
                return call_function(run, function, arguments, place, None, behind), False
        return call_native(
            run,
            name,
            arguments,
            place,
            by_reference=by_reference,
            read_only=read_only,
            operator=operator,
        )
    finally:
        run.level -= 1


def _script_function(
    run: Run, name: str, arguments: list[Value], this: Place | None
) -> CompiledFunction | None:
    if this is None:
        return run.functions.get((name, len(arguments), None))
    count = len(arguments) - 1
    typed = run.functions.get((name, count, type_name(arguments[0])))
    return typed or run.functions.get((name, count, None))


# Native functions -----------------------------------------------------------------------------


def call_native(
    run: Run,
    name: str,
    arguments: list[Value],
    place: int,
    *,
    by_reference: bool = False,
    read_only: bool = False,
    operator: str | None = None,
) -> tuple[Value, bool]:
    """Call a function of the packages: the value, and whether it works on its first argument."""
    run.n += 1
    if run.n > MAXIMUM_OPERATIONS:
        raise too_many_operations()
    native = find(name, arguments)
    if native is None:
        native = _built_in(operator, arguments)
        if native is None:
            raise unknown_function(signature(name, arguments), place)
    if read_only and not native.is_pure:
        raise method_on_constant(name, place)
    run.read_only = read_only
    try:
        value = native.run(run, place, *arguments)
        check_size(value)
        if by_reference:
            check_size(arguments[0])
    except Failure as failure:
        raise failure.at(place) from None
    return value, native.is_method


def _built_in(operator: str | None, arguments: list[Value]) -> Native | None:
    if operator is None or len(arguments) != 2:
        return None
    left, right = arguments
    operation = operators.binary(operator, left, right)
    if operation is None:
        return None
    return Native((), lambda run, place, x, y: operation(x, y), is_method=True, is_pure=True)


# Function pointers ----------------------------------------------------------------------------


def call_pointer(
    run: Run,
    pointer: FunctionPointer,
    arguments: list[Value],
    place: int,
    this: Place | None = None,
) -> Value:
    """Call what a function pointer names from a native function, on counters of its own."""
    arguments = [*map(copy_value, pointer.bound), *arguments]
    return run.detached(place, lambda: _call_pointer(run, pointer, arguments, place, this))


def _call_pointer(
    run: Run,
    pointer: FunctionPointer,
    arguments: list[Value],
    place: int,
    this: Place | None,
) -> Value:
    run.level += 1
    linked = linked_function(run, pointer, len(arguments))
    if linked is not None:
        return call_function(run, linked, arguments, place, this)
    bound = len(pointer.bound)
    if this is not None:
        own = copy_value(this.holder[this.key]) if bound else this.holder[this.key]
        if bound and (pointer.name, len(arguments), None) not in run.functions:
            arguments = [*arguments[:bound], own, *arguments[bound:]]
            known, value = syntactic(run, pointer.name, arguments, place)
            return value if known else call_native(run, pointer.name, arguments, place)[0]
        arguments = [this.holder[this.key], *arguments]
    return call_by_name(
        run,
        pointer.name,
        arguments,
        place,
        by_reference=this is not None,
        read_only=this is not None and this.read_only,
        this=this,
        native_only=not is_word(pointer.name),
        operator=pointer.name,
    )[0]


def linked_function(run: Run, pointer: FunctionPointer, count: int) -> CompiledFunction | None:
    """The function that a pointer made from a bare name stands for, if the count fits."""
    if pointer.arity != count:
        return None
    return run.functions.get((pointer.name, count, None))
