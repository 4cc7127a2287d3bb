"""A trace against what was expected, as differences with positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from interpreter.contract.effects import ROOT_BRANCH
from interpreter.contract.schemas import escaped
from interpreter.contract.values import JsonValue
from interpreter.scenario.cases import Case, Dialect
from interpreter.scenario.faults import ABSENT
from interpreter.scenario.trace import Trace


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where a trace is not as expected.

    ``pointer`` leads into the case (``/expect/path/2``); ``expected`` or ``actual`` is ``ABSENT``
    where that side has nothing.
    """

    pointer: str
    expected: JsonValue
    actual: JsonValue


def compare(case: Case, trace: Trace) -> tuple[Difference, ...]:
    """Every difference; empty when the case passes. Members that the case leaves out pass."""
    found: list[Difference] = []
    actual: dict[str, JsonValue] = {
        "path": list(trace.path),
        "state": trace.state,
        "outcome": trace.outcome,
        "output": trace.output,
        "elapsedSeconds": elapsed_seconds(trace.elapsed_ms),
        "effects": dict(trace.effects),
        "failureCode": trace.failure_code or None,
    }
    if case.dialect is Dialect.PUBLIC:
        actual["workflowElapsedSeconds"] = trace.elapsed_ms // 1000
    for member, expected in case.expected.items():
        if member == "effects":
            found += _effects(expected, trace)
        else:
            found += _values(f"/expect/{member}", expected, actual[member])
    return tuple(found)


def elapsed_seconds(milliseconds: int) -> int | float:
    """Milliseconds as seconds, whole where they are whole."""
    whole, rest = divmod(milliseconds, 1000)
    return whole if rest == 0 else milliseconds / 1000


def effect_id(name: str) -> str:
    """An effect as authors may write it (``step``, ``step:2``, ``branch/step:1``), in full."""
    branch, slash, visit = name.rpartition("/")
    if not slash:
        branch = ROOT_BRANCH
    return f"{branch}/{visit}" if ":" in visit else f"{branch}/{visit}:1"


def _effects(written: dict[str, JsonValue], trace: Trace) -> Iterator[Difference]:
    names = {effect_id(name): name for name in written}
    for identity, name in names.items():
        actual = trace.effects.get(identity, ABSENT)
        if actual != written[name]:
            yield Difference(f"/expect/effects/{escaped(name)}", written[name], actual)
    for identity, standing in trace.effects.items():
        if identity not in names:
            yield Difference(f"/expect/effects/{escaped(identity)}", ABSENT, standing)


def _values(pointer: str, expected: JsonValue, actual: JsonValue) -> Iterator[Difference]:
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted(expected.keys() | actual.keys()):
            at = f"{pointer}/{escaped(key)}"
            yield from _sides(at, expected.get(key, ABSENT), actual.get(key, ABSENT))
    elif isinstance(expected, list) and isinstance(actual, list):
        for index in range(max(len(expected), len(actual))):
            ours = expected[index] if index < len(expected) else ABSENT
            theirs = actual[index] if index < len(actual) else ABSENT
            yield from _sides(f"{pointer}/{index}", ours, theirs)
    elif not _equal(expected, actual):
        yield Difference(pointer, expected, actual)


def _sides(pointer: str, expected: JsonValue, actual: JsonValue) -> Iterator[Difference]:
    if expected is ABSENT or actual is ABSENT:
        yield Difference(pointer, expected, actual)
    else:
        yield from _values(pointer, expected, actual)


def _equal(expected: JsonValue, actual: JsonValue) -> bool:
    """Equality of JSON: a boolean is no number, and 1 and 1.0 are one number."""
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    return bool(expected == actual)
