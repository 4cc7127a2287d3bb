"""Skeleton cases: made up, varied until they fit, and written without touching what is there."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.yaml.reader import read_yaml
from adapter.authoring.diagnostics.diagnostic import Report
from adapter.authoring.scenarios import load_suite, run_suite, skeletons, write_skeletons
from adapter.authoring.scenarios.blocks import block
from adapter.errors import Refused
from interpreter.scenario import Dialect, outlets_of
from tests.adapter.authoring.scenarios.suites import changed, file_of, packaged

BLOCK = """\
apiVersion: coordinator/v1
kind: CoordinatorScenarios
cases:
    # The first one.
    - {case}"""


def existing(folder: Path, text: str) -> Path:
    """A scenario file with this text."""
    file = folder / "scenarios.yaml"
    file.write_text(text)
    return file


def generate(file: Path) -> tuple[str, ...]:
    """What ``--generate`` does to a file that exists."""
    suite = load_suite(file, packaged().definition).suite
    assert suite is not None
    untaken = run_suite(packaged(), suite).coverage.untaken
    made = tuple(skeletons(packaged(), untaken, Dialect.FULL, suite.cases))
    return write_skeletons(file, made, suite, packaged().definition).incomplete


def as_block(case: Any, indent: int = 6) -> str:
    """A file whose cases are written as lines."""
    return BLOCK.format(case="\n".join(block(case, indent)).lstrip())


def test_one_case_is_enough_to_generate_all_the_others(tmp_path: Path) -> None:
    file = existing(tmp_path, as_block(changed()))
    before = file.read_text()
    assert generate(file) == ()
    assert file.read_text().startswith(before)
    suite = load_suite(file, packaged().definition).suite
    assert suite is not None
    result = run_suite(packaged(), suite)
    assert (result.passed, result.coverage.untaken) == (True, ())


def test_without_an_example_a_case_says_that_it_is_to_be_completed(tmp_path: Path) -> None:
    made = tuple(skeletons(packaged(), outlets_of(packaged().definition), Dialect.FULL))
    file = tmp_path / "scenarios.yaml"
    written = write_skeletons(file, made, None, packaged().definition)
    assert (written.created, "notice-next" in written.incomplete) == (True, True)
    assert "# To be completed: " in file.read_text()
    reading = load_suite(file, packaged().definition)
    assert reading.diagnostics == ()


def test_a_file_that_came_into_being_is_not_overwritten(tmp_path: Path) -> None:
    made = tuple(skeletons(packaged(), outlets_of(packaged().definition), Dialect.FULL))
    file = existing(tmp_path, "mine")
    with pytest.raises(Refused) as caught:
        write_skeletons(file, made, None, packaged().definition)
    assert (caught.value.code, file.read_text()) == ("scenarios.exists", "mine")


def test_a_file_to_which_nothing_can_be_added_stays_as_it_is(tmp_path: Path) -> None:
    file = existing(tmp_path, file_of(changed()))
    before = file.read_bytes()
    with pytest.raises(Refused) as caught:
        generate(file)
    assert caught.value.code == "scenarios.not-appendable"
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_adding_keeps_the_mode_of_the_file(tmp_path: Path) -> None:
    file = existing(tmp_path, as_block(changed()))
    file.chmod(0o640)
    generate(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=20)
    | st.sampled_from(["yes", "null", "1e3", "2026-03-02", "- a", "a: b", "#x", " a", "a ", "~"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b c", "1", "true", "x-y", "-"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(["a", "b"]), _JSON, min_size=1))
def test_a_block_is_read_back_as_the_same_value(value: Any) -> None:
    report = Report()
    tree, _ = read_yaml("\n".join(block(value, 0)).encode(), "x.yaml", report)
    assert report.findings() == ()
    assert tree is not None
    assert tree.to_json() == value
