"""A compiled source text: its functions, and calls of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from interpreter.language.analysis import Mentions, returned_strings
from interpreter.language.compiling.statements import compile_functions
from interpreter.language.conversion import from_json, to_json
from interpreter.language.errors import CompileError, EvaluationError
from interpreter.language.failures import Failure
from interpreter.language.folding.statements import fold_function

# Importing a family of native functions registers it.
from interpreter.language.natives import array_callbacks as _array_callbacks
from interpreter.language.natives import arrays as _arrays
from interpreter.language.natives import maps as _maps
from interpreter.language.natives import numbers as _numbers
from interpreter.language.natives import ranges as _ranges
from interpreter.language.natives import sorting as _sorting
from interpreter.language.natives import texts as _texts
from interpreter.language.parsing.statements import parse
from interpreter.language.parsing.tree import Function
from interpreter.language.places import NOWHERE, column_of, line_of
from interpreter.language.running.run import CompiledFunction, Run, call_function
from interpreter.language.values import JsonValue, full_type_name

NATIVE_FAMILIES: Final = (
    _array_callbacks, _arrays, _maps, _numbers, _ranges, _sorting, _texts,
)  # fmt: skip


class FunctionSignature(NamedTuple):
    """A function of the source: name, number of parameters, and where its ``fn`` stands."""

    name: str
    arity: int
    public: bool
    line: int
    column: int


class Evaluation(NamedTuple):
    """The outcome of a call.

    ``value`` is JSON, ``type`` the name of its type in the language (``i64``, ``string``, ``()``),
    ``operations`` how many operations the call took as the engine counts them.
    """

    value: JsonValue
    type: str
    operations: int


class Program:
    """A compiled source text. It keeps no state between calls and may be shared."""

    def __init__(self, functions: list[Function]) -> None:
        self.functions: tuple[FunctionSignature, ...] = tuple(map(_signature, functions))
        # Both look at the source as it was written, so they come before the folding.
        self._returned = returned_strings(functions)
        self._mentions = Mentions(functions)
        for function in functions:
            fold_function(function)
        self._compiled, self._names = compile_functions(functions)

    def call(self, name: str, arguments: Sequence[JsonValue]) -> JsonValue:
        """The value of a function for JSON arguments.

        Raises EvaluationError: ``input`` for an argument that is no JSON value, ``resource`` when
        a limit is reached, ``execution`` when the function does not exist for this number of
        arguments, fails or throws, ``output`` when its value is no JSON value.
        """
        return self.evaluate(name, arguments).value

    def evaluate(self, name: str, arguments: Sequence[JsonValue]) -> Evaluation:
        """The same with the type of the value and the number of operations."""
        values = [from_json(argument) for argument in arguments]
        function = self._find(name, len(values))
        if function is None:
            raise EvaluationError(
                "execution", f"there is no function '{name}' with {len(values)} parameters"
            )
        run = Run(self._compiled, self._names)
        try:
            value = call_function(run, function, values, NOWHERE)
            run.check()
        except Failure as failure:
            raise _evaluation_error(run, failure, name) from None
        except RecursionError:
            raise EvaluationError("resource", "calls are nested too deeply") from None
        return Evaluation(to_json(value), full_type_name(value), run.reported())

    def _find(self, name: str, arity: int) -> CompiledFunction | None:
        function = self._compiled.get((name, arity, None))
        if function is not None:
            return function
        for (other, count, _), candidate in self._compiled.items():
            if other == name and count == arity:
                return candidate
        return None

    def returned_strings(self, name: str) -> frozenset[str] | None:
        """The string literals that a function can return, or None when it can not be told.

        Told apart are literals, ``if``, ``switch``, ``return`` and calls of other functions of the
        source; anything else that may be returned makes it None.
        """
        return self._returned.get(name)

    def unreferenced(self, names: Iterable[str]) -> frozenset[str]:
        """Names of the functions that no call of the given ones can reach."""
        return self._mentions.known - self._mentions.reached(names)


def compile_source(source: str) -> Program:
    """Compile a source text. Raises CompileError at the first thing that is wrong."""
    try:
        source.encode()
    except UnicodeEncodeError as error:
        before = source[: error.start]
        line = before.count("\n") + 1
        column = error.start - (before.rfind("\n") + 1) + 1
        raise CompileError("the source is no Unicode text", line, column) from None
    try:
        return Program(parse(source))
    except RecursionError:
        raise CompileError("the source is nested too deeply", 1, 1) from None


def _signature(function: Function) -> FunctionSignature:
    return FunctionSignature(
        function.name,
        len(function.parameters),
        function.public,
        line_of(function.place) or 0,
        column_of(function.place) or 0,
    )


_MESSAGES: Final = {
    "ErrorArithmetic": "a number can not be computed",
    "ErrorArrayBounds": "an index lies outside an array",
    "ErrorAssignmentToConstant": "a constant would be changed",
    "ErrorBitFieldBounds": "an index lies outside the bits of an integer",
    "ErrorDataTooLarge": "a string, array or map is too large",
    "ErrorDotExpr": "a property is not known for this type",
    "ErrorFor": "a 'for' needs an array, a string or a range",
    "ErrorFunctionNotFound": "a function is not known for these types",
    "ErrorIndexingType": "this type has no index",
    "ErrorMismatchDataType": "a value has the wrong type",
    "ErrorModuleNotFound": "a module is not known",
    "ErrorNonPureMethodCallOnConstant": "a method would change a constant",
    "ErrorParsing": "a reserved word is no name of a function",
    "ErrorRuntime": "the function threw an error",
    "ErrorStackOverflow": "calls are nested too deeply",
    "ErrorStringBounds": "an index lies outside a string",
    "ErrorTooManyOperations": "the function takes too many operations",
    "ErrorUnboundThis": "'this' has no object here",
    "ErrorVariableNotFound": "a variable is not known",
}
"""What a caller reads of a failure: the engine's own message may hold values of the data."""


def _evaluation_error(run: Run, failure: Failure, name: str) -> EvaluationError:
    if failure.cause is not None and failure.text == name:
        failure = failure.cause
    first = failure.innermost()
    line, column = line_of(failure.place), column_of(failure.place)
    if first.is_resource:
        return EvaluationError("resource", _MESSAGES[first.name], line, column)
    if not run.can_count(0):
        # The limit was passed before the failure; only then was it noticed.
        return EvaluationError("resource", _MESSAGES["ErrorTooManyOperations"])
    return EvaluationError("execution", _MESSAGES[first.name], line, column)
