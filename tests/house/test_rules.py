"""Every rule of the protocol has tests that fail without it, and those tests exist."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from tests.house.places import ROOT

_ROW = re.compile(r"^\| (\d+)\.(\d+) \| [^|]+ \| (`[^|]+`) \|$", re.MULTILINE)
_TEST = re.compile(r"`(\w[\w/]*\.py)::(test_\w+)`")
_RULES = 12
_ROWS = _ROW.findall((ROOT / "docs" / "effects.md").read_text())


@cache
def _tests_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / "tests" / path).read_text())
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in tree.body if isinstance(node, kinds))


def test_the_rules_are_numbered_without_gaps() -> None:
    numbers = [(int(rule), int(part)) for rule, part, _ in _ROWS]
    assert sorted({rule for rule, _ in numbers}) == list(range(1, _RULES + 1))
    for rule in range(1, _RULES + 1):
        parts = [part for found, part in numbers if found == rule]
        assert parts == list(range(1, len(parts) + 1))


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: ".".join(row[:2]))
def test_the_tests_of_a_rule_exist(row: tuple[str, str, str]) -> None:
    named = _TEST.findall(row[2])
    assert len(named) == row[2].count("::") > 0
    assert [name for path, name in named if name not in _tests_in(path)] == []
