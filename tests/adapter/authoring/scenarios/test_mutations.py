"""Mutated scenario files: whatever is wrong is a finding with a code and a place."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from typing import Any

import pytest
import yaml

from adapter.authoring.scenarios import TextReport, render_junit, run_suite, suite_document
from tests.adapter.authoring.scenarios.suites import EXAMPLE, packaged, read

_ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0.5,
    2**70,
    "",
    "x",
    "review",
    "success",
    "2026-03-02T08:00:00Z",
    "9999-12-31T23:59:59Z",
    "\u2028\U0001f600",
    [],
    {},
    [{}],
    {"type": "retryable", "code": "c"},
    {"step": "result", "afterSeconds": 31_536_000, "gone": True},
    {"type": "reconcile", "step": "notice", "afterSeconds": 0},
)


def _containers(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found = [value] if isinstance(value, dict | list) and value else []
    return found + [one for item in inner for one in _containers(item)]


def mutated(document: Any, chance: random.Random) -> Any:
    """The document with one to four places removed, doubled, exchanged or replaced."""
    document = deepcopy(document)
    for _ in range(chance.randint(1, 4)):
        container = chance.choice(_containers(document) or [document])
        keys = list(container) if isinstance(container, dict) else list(range(len(container)))
        if not keys:
            continue
        key, other = chance.choice(keys), chance.choice(keys)
        match chance.randrange(5):
            case 0:
                del container[key]
            case 1:
                container[key] = deepcopy(chance.choice(_ODD))
            case 2:
                container[key], container[other] = container[other], container[key]
            case 3 if isinstance(container, list):
                container.insert(key, deepcopy(container[other]))
            case _ if isinstance(container, dict):
                container[chance.choice(["x", "acts", "cancel", "stop", "step", "at"])] = deepcopy(
                    chance.choice(_ODD)
                )
            case _:
                container.append(deepcopy(chance.choice(_ODD)))
    return document


def judge(document: Any) -> None:
    """Read, play and report a document; only findings may come of it."""
    reading = read(json.dumps(document))
    assert all(one.code and one.spot.line > 0 for one in reading.diagnostics)
    if reading.suite is None:
        assert reading.diagnostics
        return
    result = run_suite(packaged(), reading.suite)
    assert all(one.code and one.remedy for one in result.findings)
    TextReport(coverage=True).render(result)
    render_junit(result, "x")
    json.dumps(suite_document(result))


@pytest.mark.parametrize("seed", range(10))
def test_a_mutated_file_is_played_or_refused(seed: int) -> None:
    chance = random.Random(seed)
    original = yaml.safe_load((EXAMPLE / "scenarios.yaml").read_text())
    for case in original["cases"]:
        case["admittedAt"] = str(case["admittedAt"])
    for _ in range(12):
        cases = chance.sample(original["cases"], 2)
        judge(mutated({**original, "cases": cases}, chance))
