"""The line protocol of ``python -m interpreter.language``."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any


def replies(*lines: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "interpreter.language"],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def test_each_line_gets_one_answer_with_its_id() -> None:
    case = {"id": 1, "source": "fn f(x) { x + 1 }", "function": "f", "arguments": [41]}
    broken = {"id": "b", "source": "fn f( {", "function": "f", "arguments": []}
    found = replies(json.dumps(case), "", json.dumps(broken), "no json")
    assert found[0] == {"id": 1, "value": 42, "type": "i64", "operations": 4}
    assert {**found[1], "text": ""} == {
        "id": "b", "error": "compile", "line": 1, "column": 7, "text": ""
    }  # fmt: skip
    assert found[2]["error"] == "input"
    assert len(found) == 3


def test_kinds_of_failure_carry_what_is_known() -> None:
    found = replies(
        '{"id": 1, "source": "fn f() { 0..1 }", "function": "f", "arguments": []}',
        '{"id": 2, "source": "fn f() { throw 1 }", "function": "f", "arguments": []}',
        '{"id": 3, "source": "fn f(x) { `${x}` }", "function": "f", "arguments": [-0]}',
    )
    assert (found[0]["error"], found[0]["type"]) == ("output", "core::ops::range::Range<i64>")
    assert (found[1]["error"], found[1]["line"], found[1]["column"]) == ("execution", 1, 10)
    assert (found[2]["value"], found[2]["type"]) == ("0.0", "string")
