"""The evaluator answers every recorded case as the reference engine did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interpreter.language.__main__ import answer

HERE = Path(__file__).parent


def shown(reply: dict[str, Any], names: dict[str, Any]) -> str:
    # As text, because 1 and 1.0 and True are equal as Python values.
    return json.dumps({name: reply.get(name) for name in names}, sort_keys=True)


@pytest.mark.parametrize("name", ["vectors.jsonl", "regressions.jsonl"])
def test_every_recorded_case_gets_the_answer_of_the_engine(name: str) -> None:
    different = []
    for line in (HERE / name).read_text(encoding="utf-8").split("\n"):
        case = json.loads(line) if line else None
        if case and shown(answer(case), case["expect"]) != shown(case["expect"], case["expect"]):
            different.append(case["source"])
    assert different == []
