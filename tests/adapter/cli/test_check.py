"""The command `check` and the commands that show a definition."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.adapter.cli.conftest import Run

EXAMPLE = Path(__file__).parents[3] / "examples" / "reviewed-notice"


@pytest.fixture
def project(run: Run, tmp_path: Path) -> Path:
    """A project as `init` writes it."""
    folder = tmp_path / "project"
    assert run("init", str(folder)).code == 0
    return folder


def _broken(project: Path) -> None:
    workflow = project / "workflow.yaml"
    workflow.write_text(workflow.read_text().replace("next: question", "next: nowhere"))


def test_a_project_is_named_with_or_without_the_flag(run: Run, project: Path) -> None:
    named = run("check", str(project), "--format", "json").object
    assert named == run("check", "--project", str(project), "--format", "json").object
    assert (named["ok"], named["command"], named["status"]) == (True, "check", "valid")
    twice = run("check", str(project), "--project", "elsewhere")
    assert (twice.code, twice.err[:20]) == (2, "error[usage.invalid]")


def test_check_explains_a_sound_project(run: Run) -> None:
    said = run("check", str(EXAMPLE), "--explain")
    assert said.out.startswith("status    valid\n")
    assert "Ways to end" in said.out
    told = run("check", str(EXAMPLE), "--explain", "--format", "json").object
    assert {one["id"] for one in told["steps"]} >= {"review", "result"}
    assert told["diagnostics"] == []


def test_findings_are_written_for_github(run: Run, project: Path) -> None:
    _broken(project)
    said = run("check", str(project), "--format", "github")
    assert said.code == 1
    assert said.out.startswith(f"::error file={project}/workflow.yaml,line=")


def test_findings_are_written_as_sarif(run: Run, project: Path) -> None:
    _broken(project)
    said = run("check", str(project), "--format", "sarif")
    [one, *_] = json.loads(said.out)["runs"][0]["results"]
    assert (said.code, one["ruleId"]) == (1, "coordinator.definition.target")


def test_warnings_refuse_only_when_they_are_denied(run: Run, project: Path) -> None:
    (project / "notes").mkdir()
    said = run("check", str(project), "--format", "json").object
    assert (said["status"], said["warnings"]) == ("valid-with-warnings", 1)
    assert run("check", str(project)).out.startswith("warning[coordinator.project.unread-dir")
    assert run("check", str(project), "--deny-warnings").code == 1


def test_a_failing_scenario_refuses_the_project(run: Run, project: Path) -> None:
    scenarios = project / "scenarios.yaml"
    scenarios.write_text(
        scenarios.read_text().replace("outcome: complete\n", "outcome: incomplete\n")
    )
    said = run("check", str(project))
    assert said.code == 1
    assert said.err.startswith("error[coordinator.scenario.expectation]")
    assert f"{scenarios}:" in said.err


@pytest.mark.parametrize("name", ["scenarios.yaml", "runtime.yaml"])
@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_what_should_be_a_file_and_is_none_is_one_error(
    run: Run, project: Path, name: str, kind: str
) -> None:
    file = project / name
    file.unlink(missing_ok=True)
    if kind == "link":
        file.symlink_to(project / "workflow.yaml")
    elif kind == "folder":
        file.mkdir()
    else:
        os.mkfifo(file)
    said = run("check", str(project), "--format", "json").object
    assert [one["code"] for one in said["diagnostics"]] == [
        "coordinator.project.not-a-regular-file"
    ]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"[" * 1_000_000, "yaml.too-deep"),
        (b"a: &a [1]\nb: [*a, *a]\n", "yaml.anchor"),
        (b"a: " + b"x" * 1_100_000, "yaml.too-large"),
        (b"a: \xff", "yaml.not-utf8"),
        (b"a: " + b"[" * 129 + b"]" * 129, "yaml.too-deep"),
    ],
)
@pytest.mark.parametrize("name", ["workflow.yaml", "scenarios.yaml", "runtime.yaml"])
def test_hostile_files_are_refused_with_code_place_and_remedy(
    run: Run, project: Path, name: str, data: bytes, code: str
) -> None:
    (project / name).write_bytes(data)
    said = run("check", str(project), "--format", "json")
    found = {one["code"]: one for one in said.object["diagnostics"]}
    assert (said.code, found[code]["source"]["file"], found[code]["source"]["line"]) == (1, name, 1)
    assert all(one["suggestedAction"] for one in found.values())


def test_a_runtime_file_alone_is_checked(run: Run, tmp_path: Path) -> None:
    runtime = tmp_path / "runtime.yaml"
    runtime.write_text("apiVersion: coordinator/v1\nkind: CoordinatorRuntime\nmode: playful\n")
    said = run("check", "--runtime-config", str(runtime))
    assert said.code == 1
    assert "error[config.missing-key]" in said.err
    assert f"{runtime}:3:1 (/mode)" in said.err


def test_a_sound_workflow_needs_a_runtime_that_binds_it(run: Run, project: Path) -> None:
    (project / "runtime.yaml").write_text(
        """\
apiVersion: coordinator/v1
kind: CoordinatorRuntime
deployment: here
mode: development
secrets: {fileRoot: secrets}
temporal: {address: "127.0.0.1:7233"}
database: {url: secret:file/a, migrationUrl: secret:file/a}
keys:
  admission: {active: 1, versions: {"1": secret:file/b}}
  state: {active: 1, versions: {"1": secret:file/c}}
api: {bind: "127.0.0.1:8300", publicUrl: "http://127.0.0.1:8300"}
connections:
  registry: {product: messaging, baseUrl: "http://127.0.0.1:1"}
"""
    )
    [found] = run("check", str(project), "--format", "json").object["diagnostics"]
    assert found["code"] == "coordinator.runtime.workflow-binding"
    assert found["source"] == {"file": "runtime.yaml", "line": 13, "column": 3}


def test_a_project_is_told_step_by_step(run: Run) -> None:
    told = run("explain", str(EXAMPLE), "--format", "json").object
    steps = {one["id"]: one["does"] for one in told["steps"]}
    assert steps["result"] == "waits for result of review, at most 14 days"
    assert {one["state"] for one in told["endings"]} >= {"finished", "expired", "attention"}
    assert "Ways to end" in run("explain", "--project", str(EXAMPLE)).out


@pytest.mark.parametrize(
    ("format", "begins"), [("mermaid", "flowchart TD"), ("dot", "digraph"), ("svg", "<svg ")]
)
def test_a_project_is_drawn(run: Run, tmp_path: Path, format: str, begins: str) -> None:
    assert run("graph", str(EXAMPLE), "--format", format).out.startswith(begins)
    file = tmp_path / "picture"
    assert run("graph", str(EXAMPLE), "--format", format, "--output", str(file)).out == ""
    assert file.read_text().startswith(begins)
    refused = run("graph", str(EXAMPLE), "--output", str(tmp_path / "none" / "x"))
    assert (refused.code, refused.err[:23]) == (3, "error[graph.unwritable]")


def test_the_schema_is_one(run: Run) -> None:
    schema = run("schema").object
    Draft202012Validator.check_schema(schema)
    assert schema["title"] == "A coordinator project"


def test_projects_and_packages_are_compared(run: Run, project: Path, tmp_path: Path) -> None:
    package = tmp_path / "package"
    assert run("package", str(project), "--output", str(package)).code == 0
    same = run("diff", str(package), str(project), "--format", "json").object
    assert (same["revisionChanges"], same["execution"]) == (False, [])
    workflow = project / "workflow.yaml"
    workflow.write_text(workflow.read_text().replace("86400", "3600"))
    changed = run("diff", str(package), str(project), "--format", "json").object
    assert changed["execution"] == [
        {"kind": "changed", "pointer": "/deadlineSeconds", "old": 86400, "new": 3600}
    ]
    assert "86400 -> 3600" in run("diff", str(package), str(project)).out


def test_a_line_of_a_runtime_file_is_never_shown(run: Run, tmp_path: Path) -> None:
    runtime = tmp_path / "runtime.yaml"
    runtime.write_text("apiVersion: coordinator/v1\nkind: CoordinatorRuntime\nkey: hunter2\n")
    said = run("check", "--runtime", str(runtime))
    assert "config.unknown-key" in said.err
    assert "hunter2" not in said.err
