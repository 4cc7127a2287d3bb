"""Projects of the public format, whole and unmodified, through every offline command."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from activities.catalogue import Catalogue
from adapter.authoring import explain, graph, load_project
from adapter.authoring.projects import ProjectResult
from adapter.authoring.proof import prove_project
from adapter.authoring.scenarios import load_suite, run_suite
from adapter.package import package_files, read_package, write_package
from interpreter.definition.document import PackagedDefinition
from tests.adapter.authoring.public_projects import FOLDER, PROJECTS, longest_project

_ENVIRONMENT = {
    "LETTERS_ORIGIN": "https://letters.example.org",
    "LOGIN_ORIGIN": "https://login.example.org",
    "CLIENT_ID": "reminders",
    "STAGE": "test",
    "MOST_BYTES": "4096",
    "RECORDS_PRODUCT": "breg",
}


def _definition(name: str) -> PackagedDefinition:
    definition = load_project(FOLDER / name, Catalogue.standard()).definition
    assert definition is not None
    return definition


def _found(proof: ProjectResult) -> list[tuple[str, str, int]]:
    return [(one.code, one.spot.file, one.spot.line) for one in proof.diagnostics]


@pytest.mark.parametrize("name", PROJECTS)
def test_a_project_with_all_its_files_has_no_finding(name: str) -> None:
    proof = prove_project(FOLDER / name, Catalogue.standard(), environment=_ENVIRONMENT)
    assert _found(proof) == []
    assert proof.definition is not None


@pytest.mark.parametrize("name", PROJECTS)
def test_offline_only_what_a_variable_decides_is_left_open(name: str) -> None:
    found = _found(prove_project(FOLDER / name, Catalogue.standard()))
    open_ones = [("config.substitution-unchecked", "runtime.yaml", 8)]
    assert found == (open_ones if name == "bakery-judgement" else [])


def test_together_they_call_every_operation_of_the_format() -> None:
    called = {
        one.contract.id
        for name in PROJECTS
        for one in _definition(name).definition.operations.values()
    }
    assert called == set(Catalogue.standard().aliases.values())


@pytest.mark.parametrize("name", PROJECTS)
def test_a_project_is_explained_drawn_and_packaged(name: str, tmp_path: Path) -> None:
    definition = _definition(name)
    told = explain(definition).to_json()
    assert {one["id"] for one in told["steps"]} == set(definition.definition.nodes)
    assert all(graph(definition, format) for format in ("mermaid", "dot", "svg"))
    digest = write_package(definition, tmp_path / "package")
    read = read_package(tmp_path / "package", digest).definition
    assert read.to_json() == definition.to_json()
    assert package_files(definition) == package_files(_definition(name))


@pytest.mark.parametrize("name", PROJECTS)
def test_its_scenarios_take_every_way_that_their_author_meant(name: str) -> None:
    definition = _definition(name)
    suite = load_suite(FOLDER / name / "scenarios.yaml", definition.definition).suite
    assert suite is not None
    played = run_suite(definition, suite)
    assert [(one.case.id, one.findings) for one in played.failed] == []
    assert len(played.coverage.untaken) <= 3


def test_a_project_may_use_all_64_steps(tmp_path: Path) -> None:
    proof = prove_project(longest_project(tmp_path), Catalogue.standard())
    assert _found(proof) == []
    assert proof.definition is not None
    assert len(proof.definition.definition.nodes) == 64


def test_the_smallest_project_is_a_finish_and_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "functions.rhai").write_text("")
    (tmp_path / "workflow.yaml").write_text(
        """\
apiVersion: id.registrystack.org/formats/coordinator/project/v1alpha1
kind: CoordinatorProject
project: {id: least, version: "0"}
input: {}
connections: {}
functionsFile: functions.rhai
deadlineSeconds: 1
start: end
steps: {end: {type: finish, outcome: done}}
outcomes: {done: true}
"""
    )
    assert _found(prove_project(tmp_path, Catalogue.standard())) == []


def test_a_reply_that_no_product_gives_is_no_finding_of_its_check(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    shutil.copytree(FOLDER / "settled_letter", folder)
    scenarios = folder / "scenarios.yaml"
    scenarios.write_text(scenarios.read_text().replace(", status: accepted", ""))
    assert _found(prove_project(folder, Catalogue.standard())) == []
    suite = load_suite(scenarios, _definition("settled_letter").definition).suite
    assert suite is not None
    found = {one.code for one in run_suite(_definition("settled_letter"), suite).findings}
    assert found == {"coordinator.scenario.response"}


@pytest.mark.parametrize(
    ("old", "new", "code", "pointer"),
    [
        ("first: [{type: success", "more: [{type: success", "scenario.reply-step", "/cases/0"),
        (
            "path: [first, more, one]",
            "path: [first, most, one]",
            "scenarios.unknown-reference",
            "/cases/0/expect/path/1",
        ),
        (
            "recovery: {second: retry-same}",
            "recovery: {more: retry-same}",
            "scenario.recovery",
            "/cases/1",
        ),
        (
            "recovery: {second: retry-same}",
            "recovery: {gone: retry-same}",
            "scenarios.unknown-reference",
            "/cases/1/recovery/gone",
        ),
        ("output: [M-1]}", "output: [M-2]}", "scenario.expectation", "/cases/0"),
        (
            "    replies: {first: [{type: success, value: {id: M-1, status: accepted}}]}",
            "    replies: {}",
            "scenario.reply",
            "/cases/0",
        ),
        (
            'admittedAt: "2026-03-01T08:00:00Z"',
            'admittedAt: "2026-03-01"',
            "scenarios.invalid-timestamp",
            "/cases/0/admittedAt",
        ),
        (
            "input: {people: [{email: a@example.org}]}",
            "input: {people: []}",
            "definition.input",
            "/cases/0",
        ),
    ],
)
def test_a_mistake_of_a_scenario_refuses_the_check(
    tmp_path: Path, old: str, new: str, code: str, pointer: str
) -> None:
    folder = tmp_path / "project"
    shutil.copytree(FOLDER / "settled_letter", folder)
    scenarios = folder / "scenarios.yaml"
    text = scenarios.read_text()
    assert old in text
    scenarios.write_text(text.replace(old, new, 1))
    found = prove_project(folder, Catalogue.standard()).errors
    assert [one.code for one in found] == [f"coordinator.{code}"]
    assert found[0].spot.pointer.startswith(pointer)
