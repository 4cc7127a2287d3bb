"""Differences between what was expected and what happened, each at its place."""

from __future__ import annotations

from typing import Any

import pytest

from interpreter.scenario import ABSENT, Case, Coverage, Dialect, Trace, compare
from tests.fixtures.definitions import ADMITTED_MS, definition
from tests.interpreter.scenario.cases import OK, ONE_EFFECT, play

TRACE = Trace(
    ("send", "done"),
    frozenset({("send", "next")}),
    "finished",
    "done",
    {"id": "r1", "items": [1, 2]},
    elapsed_ms=1500,
    effects={"main/send:1": "accepted"},
)


def differences(dialect: Dialect = Dialect.FULL, **expected: Any) -> list[tuple[Any, ...]]:
    """What differs, as (pointer, expected, actual)."""
    found = compare(Case("case", ADMITTED_MS, {}, expected, dialect), TRACE)
    return [(one.pointer, one.expected, one.actual) for one in found]


@pytest.mark.parametrize(
    ("expected", "difference"),
    [
        ({"path": ["send"]}, ("/expect/path/1", ABSENT, "done")),
        ({"path": ["send", "x"]}, ("/expect/path/1", "x", "done")),
        ({"state": "failed"}, ("/expect/state", "failed", "finished")),
        ({"outcome": None}, ("/expect/outcome", None, "done")),
        ({"output": {"id": "r1", "items": [1, 3]}}, ("/expect/output/items/1", 3, 2)),
        ({"output": None}, ("/expect/output", None, TRACE.output)),
        ({"elapsedSeconds": 1}, ("/expect/elapsedSeconds", 1, 1.5)),
        ({"effects": {"send": "unknown"}}, ("/expect/effects/send", "unknown", "accepted")),
        ({"effects": {}}, ("/expect/effects/main~1send:1", ABSENT, "accepted")),
        ({"failureCode": "x"}, ("/expect/failureCode", "x", None)),
    ],
)
def test_a_difference_stands_at_its_place(expected: dict[str, Any], difference: Any) -> None:
    assert differences(**expected) == [difference]


def test_what_a_case_does_not_say_is_not_compared() -> None:
    assert differences() == []


def test_a_boolean_is_no_number_and_numbers_are_equal_by_value() -> None:
    assert differences(output={"id": "r1", "items": [True, 2.0]}) == [
        ("/expect/output/items/0", True, 1)
    ]


def test_the_public_format_counts_whole_seconds() -> None:
    assert differences(Dialect.PUBLIC, workflowElapsedSeconds=1) == []


def test_coverage_names_the_outlets_that_no_case_takes() -> None:
    made = definition({name: dict(node) for name, node in ONE_EFFECT.items()})
    coverage = Coverage.of(made, [play(ONE_EFFECT, replies={"send": (OK,)})])
    assert [(one.node, one.outlet) for one in coverage.untaken] == [("send", "failed")]
    assert (coverage.taken, len(coverage.outlets)) == (1, 2)
