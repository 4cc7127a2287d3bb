"""Findings as text, JSON, GitHub annotations and SARIF; never with a value of the data."""

from __future__ import annotations

import json
from pathlib import Path

from adapter.authoring import (
    Diagnostic,
    ProjectResult,
    Severity,
    Spot,
    render_github,
    render_json,
    render_sarif,
    render_text,
)
from tests.adapter.authoring.projects import DONE, load, project, read

TEXT = """apiVersion: coordinator/v1
kind: CoordinatorProject
project: {id: small, version: "1"}
input: {type: object}
deadlineSeconds: 60
start: a
steps:
\ta: {type: finish, outcome: done}
outcomes: {done: true}
"""


def wrong(folder: Path) -> ProjectResult:
    """A project with one error on line 6."""
    text = TEXT.replace("\t", "  ").replace("start: a", "start: b")
    return load(folder, text)


def test_text_shows_the_line_with_a_caret_under_the_place(tmp_path: Path) -> None:
    result = wrong(tmp_path)
    shown = render_text(result.diagnostics, result.sources, folder="projects/small/")
    assert shown == (
        "error[coordinator.definition.shape]: start names step `b`, which is not declared\n"
        "  --> projects/small/workflow.yaml:6:8 (/start)\n"
        "  |\n"
        "6 | start: b\n"
        "  |        ^\n"
        "  help: did you mean `a`?\n"
        "\n"
        "1 error, 0 warnings\n"
    )


def test_a_tab_does_not_move_the_caret(tmp_path: Path) -> None:
    result = load(tmp_path, TEXT.replace("start: a", "start: a\t"))
    lines = render_text(result.diagnostics, result.sources).splitlines()
    assert lines[2:5] == ["  |", "8 | \ta: {type: finish, outcome: done}", "  | ^"]


def test_a_second_place_is_shown_as_a_note(tmp_path: Path) -> None:
    result = load(tmp_path, TEXT.replace("start: a", "start: a\nstart: c").replace("\t", "  "))
    assert "note: it is first defined here (workflow.yaml:6:1 (/start))" in render_text(
        result.diagnostics, result.sources
    )


def test_lines_can_be_left_out(tmp_path: Path) -> None:
    result = wrong(tmp_path)
    assert "start: b" not in render_text(result.diagnostics, result.sources, show_lines=False)


def test_json_has_the_place_and_what_to_do(tmp_path: Path) -> None:
    document = json.loads(render_json(wrong(tmp_path).diagnostics))
    assert (document["ok"], document["errors"], document["warnings"]) == (False, 1, 0)
    assert document["diagnostics"] == [
        {
            "severity": "error",
            "code": "coordinator.definition.shape",
            "artifact": "workflow",
            "path": "/start",
            "message": "start names step `b`, which is not declared",
            "suggestedAction": "did you mean `a`?",
            "source": {"file": "workflow.yaml", "line": 6, "column": 8},
            "related": [],
        }
    ]


def test_github_gets_one_command_a_finding(tmp_path: Path) -> None:
    assert render_github(wrong(tmp_path).diagnostics, folder="a,b") == (
        "::error file=a%2Cb/workflow.yaml,line=6,col=8,endColumn=9,"
        "title=coordinator.definition.shape::start names step `b`, which is not declared "
        "(did you mean `a`?)\n"
    )


def test_sarif_names_rules_and_regions(tmp_path: Path) -> None:
    run = json.loads(render_sarif(wrong(tmp_path).diagnostics, folder="x"))["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [
        "coordinator.definition.shape"
    ]
    location = run["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "x/workflow.yaml"
    assert location["region"] == {"startLine": 6, "startColumn": 8, "endColumn": 9}


def test_no_message_holds_a_value(tmp_path: Path) -> None:
    secret = "s3cr3t-value"
    steps = {
        "a": read(input={"literal": secret}, next=secret.upper(), policy={"attempts": secret}),
        "done": {**DONE, "outcome": f"{secret}!"},
    }
    document = project(steps, start=3, input={"const": secret, "format": secret}, kind=secret)
    for kind in (secret, "CoordinatorProject"):
        result = load(tmp_path, {**document, "kind": kind})
        assert result.errors
        told = "".join(f"{one.message}{one.remedy}" for one in result.errors)
        assert secret not in told.lower()


def test_at_most_100_findings_of_a_file_are_shown(tmp_path: Path) -> None:
    found = load(tmp_path, "\n".join(f"k{i}: 012" for i in range(200))).diagnostics
    assert len(found) == 101
    assert found[-1].code == "config.too-many-problems"


def test_a_code_of_a_played_case_needs_no_entry_in_the_table() -> None:
    one = Diagnostic("coordinator.later.code", Severity.ERROR, "m", Spot("scenarios.yaml"), "r")
    [rule] = json.loads(render_sarif([one]))["runs"][0]["tool"]["driver"]["rules"]
    assert rule == {"id": "coordinator.later.code"}
