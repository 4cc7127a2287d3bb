"""The command `coordinatorctl test` as a person calls it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.adapter.cli.conftest import Run
from tests.house.places import ROOT

EXAMPLE = ROOT / "examples" / "reviewed-notice"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the example."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "project"))


def test_the_example_passes_and_all_its_ways_out_are_taken(run: Run, project: Path) -> None:
    said = run("test", str(project), "--coverage")
    assert (said.code, said.err) == (0, "")
    assert "coverage: 19 of 19 ways out of steps are taken" in said.out


def test_a_case_that_fails_gives_exit_code_1_and_its_reasons(run: Run, project: Path) -> None:
    file = project / "scenarios.yaml"
    file.write_text(file.read_text().replace("output: {messageId: M-1}", "output: 7", 1))
    said = run("test", str(project), "--case", "approved")
    assert said.code == 1
    assert "expected  7" in said.out
    assert "0 passed, 1 failed" in said.out


def test_json_is_one_object(run: Run, project: Path) -> None:
    said = run("test", str(project), "--format", "json")
    assert (said.code, said.object["status"]) == (0, "passed")
    assert said.object["coverage"]["untaken"] == []


def test_junit_is_xml(run: Run, project: Path) -> None:
    said = run("test", str(project), "--format", "junit")
    assert ElementTree.fromstring(said.out)[0].get("failures") == "0"


def test_generate_writes_a_file_and_then_adds_nothing(run: Run, project: Path) -> None:
    file = project / "scenarios.yaml"
    kept = file.read_bytes()
    assert run("test", str(project), "--generate").code == 0
    assert file.read_bytes() == kept
    file.unlink()
    said = run("test", str(project), "--generate", "--format", "json")
    assert (said.code, said.object["created"]) == (0, True)
    assert len(said.object["cases"]) > 10


def test_generate_adds_what_is_missing(run: Run, project: Path) -> None:
    file = project / "scenarios.yaml"
    head, _, _ = file.read_text().partition("\n  - id: rejected\n")
    file.write_text(head)
    said = run("test", str(project), "--generate")
    assert (said.code, "added 10 cases" in said.out) == (0, True)
    assert file.read_text().startswith(head)
    assert run("test", str(project)).code == 0


def test_an_unknown_case_is_a_usage_error(run: Run, project: Path) -> None:
    said = run("test", str(project), "--case", "aproved")
    assert said.code == 2
    assert "did you mean `approved`?" in said.err


def test_a_file_that_is_not_there_is_refused(run: Run, project: Path) -> None:
    said = run("test", str(project), "--scenarios", str(project / "none.yaml"))
    assert (said.code, said.out) == (3, "")
    assert said.err.startswith("error[coordinator.scenario.read]")


@pytest.mark.parametrize("format", ["text", "json"])
def test_a_wrong_file_shows_every_finding(run: Run, project: Path, format: str) -> None:
    (project / "scenarios.yaml").write_text("apiVersion: x\nkind: y\n")
    said = run("test", str(project), "--format", format)
    assert said.code == 1
    shown = said.err if format == "text" else json.dumps(said.object)
    assert "config.wrong-kind" in shown


def test_a_wrong_project_is_refused_first(run: Run, project: Path) -> None:
    (project / "functions.rhai").write_text("fn")
    said = run("test", str(project))
    assert said.code == 1
    assert "coordinator.function.definition" in said.err
