"""Mapping + state of a branch -> value."""

from __future__ import annotations

from collections.abc import Mapping as Map

from interpreter import language
from interpreter.contract.values import JsonValue
from interpreter.definition import mappings as m
from interpreter.errors import MappingError
from interpreter.language import ValueLimit, check_bounds
from interpreter.machine.pointers import resolve
from interpreter.machine.program import Program
from interpreter.machine.state import RunFacts


class Evaluation:
    """One evaluation of a mapping: where values come from, and the place errors name."""

    def __init__(
        self, program: Program, facts: RunFacts, outputs: Map[str, JsonValue], place: str
    ) -> None:
        self._functions = program.functions
        self._facts = facts
        self._outputs = outputs
        self._place = place

    def value(self, mapping: m.Mapping) -> JsonValue:
        """The mapping's value; MappingError ``mapping.*`` or ``function.*`` if it has none."""
        match mapping:
            case m.FromInput():
                return self._at(self._facts.input, mapping.input, "the input")
            case m.FromStep():
                return self._of_step(mapping)
            case m.LiteralValue():
                return mapping.literal
            case m.ObjectOf():
                return {name: self.value(item) for name, item in mapping.object.items()}
            case m.ListOf():
                return [self.value(item) for item in mapping.list]
            case m.FunctionCall():
                return self._call(mapping)
            case m.FromContext():
                return self._context(mapping.context)
            case m.FirstOf():
                return self._first(mapping)

    def _at(self, value: JsonValue, pointer: str, of: str) -> JsonValue:
        try:
            return resolve(value, pointer)
        except LookupError as error:
            raise self._error(
                "mapping.missing-value", f"{of} has no member at {pointer!r}"
            ) from error

    def _of_step(self, mapping: m.FromStep) -> JsonValue:
        if mapping.step not in self._outputs:
            raise self._error("mapping.missing-output", f"step {mapping.step!r} has not run")
        return self._at(self._outputs[mapping.step], mapping.path, f"step {mapping.step!r}")

    def _first(self, mapping: m.FirstOf) -> JsonValue:
        for alternative in mapping.first:
            if all(step in self._outputs for step in steps_read(alternative)):
                return self.value(alternative)
        raise self._error("mapping.missing-output", "no alternative's step has run")

    def _context(self, path: str) -> JsonValue:
        facts = self._facts
        return {
            "/runId": facts.run_id,
            "/admittedAt": facts.admitted_at,
            "/deadlineAt": facts.deadline_at,
            "/attempt": facts.execution,
            "/workflow": facts.workflow,
            "/version": facts.version,
        }[path]

    def _call(self, mapping: m.FunctionCall) -> JsonValue:
        if self._functions is None:
            raise self._error("function.unknown", "the definition has no functions")
        arguments = [self.value(argument) for argument in mapping.arguments]
        try:
            for argument in arguments:
                check_bounds(argument)
            result = self._functions.call(mapping.function, arguments)
            check_bounds(result)
        except language.EvaluationError as error:
            raise self._error(
                f"function.{error.kind}",
                f"function {mapping.function!r} failed at {error.line}:{error.column}",
            ) from error
        except ValueLimit as error:
            raise self._error(
                "function.value-limit", f"a value of function {mapping.function!r} is too large"
            ) from error
        return result

    def _error(self, code: str, message: str) -> MappingError:
        return MappingError(
            code, message, place=self._place, remedy="try the case as a scenario offline"
        )


def steps_read(mapping: m.Mapping) -> frozenset[str]:
    """The steps that a mapping reads, alternatives included."""
    match mapping:
        case m.FromStep():
            return frozenset({mapping.step})
        case m.ObjectOf():
            parts: tuple[m.Mapping, ...] = tuple(mapping.object.values())
        case m.ListOf():
            parts = mapping.list
        case m.FunctionCall():
            parts = mapping.arguments
        case m.FirstOf():
            parts = mapping.first
        case _:
            return frozenset()
    return frozenset().union(*(steps_read(part) for part in parts))
