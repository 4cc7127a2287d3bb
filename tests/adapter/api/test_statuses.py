"""Tests of the table of states: it is whole, and the documented one is the same."""

from __future__ import annotations

from pathlib import Path

from adapter.api.statuses import WORDS
from interpreter.contract.records import RunState

_DOCUMENT = Path(__file__).parents[3] / "docs" / "states.md"


def test_every_state_has_its_words() -> None:
    assert set(WORDS) == set(RunState)


def test_the_documented_table_is_the_one_that_programs_use() -> None:
    rows = [line for line in _DOCUMENT.read_text().splitlines() if line.startswith("| `")]
    documented = {
        cells[0]: tuple(cells[1:])
        for cells in ([cell.strip(" `") for cell in row.strip("|").split("|")] for row in rows)
    }
    assert documented == {
        state.value: (words.project, words.execution, words.graph, words.temporal)
        for state, words in WORDS.items()
    }


def test_only_a_final_state_closes_the_execution() -> None:
    assert all((words.temporal != "Running") == state.final for state, words in WORDS.items())
