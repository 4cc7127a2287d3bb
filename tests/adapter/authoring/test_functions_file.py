"""The functions of a project: the file, the functions that mappings need, and their labels."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from activities.catalogue import Catalogue
from adapter.authoring import load_project
from tests.adapter.authoring.projects import DONE, codes, load, only, project, step


def choose(function: str, *labels: str, arguments: int = 1) -> dict[str, Any]:
    """A project that chooses by a function."""
    mapping = {"function": function, "arguments": [{"input": "/id"}] * arguments}
    cases = dict.fromkeys(labels, "done")
    return project({"a": step("choose", choose=mapping, cases=cases), "done": DONE})


def test_an_error_in_the_functions_is_placed_in_their_file(tmp_path: Path) -> None:
    result = load(tmp_path, choose("route", "yes", "no"), 'fn route(x) {\n  "yes" +\n}\n')
    assert only(result).code == "coordinator.function.definition"
    assert (only(result).spot.file, only(result).spot.line) == ("functions.rhai", 3)


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ('fn rout(x) { "yes" }', "function.definition"),
        ('private fn route(x) { "yes" }', "function.definition"),
        ('fn route() { "yes" }', "function.arity"),
        ('fn route(x) { "yes" }\nfn route(x, y) { "no" }', "function.definition"),
        ('fn route(x) { eval("1") }', "function.definition"),
        ("// " + "x" * 70_000, "function.source-limit"),
        ("".join(f"fn f{i}() {{ 1 }}\n" for i in range(129)), "function.definition"),
    ],
)
def test_functions_that_mappings_can_not_use_are_refused(
    tmp_path: Path, source: str, code: str
) -> None:
    assert code in codes(load(tmp_path, choose("route", "yes", "no"), source))


def test_a_hundred_warnings_do_not_refuse_a_project(tmp_path: Path) -> None:
    source = 'fn route(x) { "yes" }' + "".join(f"\nfn f{i}() {{ 1 }}" for i in range(120))
    result = load(tmp_path, choose("route", "yes"), source)
    assert result.definition is not None
    assert codes(result) == []


def test_a_project_without_functions_needs_no_file(tmp_path: Path) -> None:
    steps = {"a": step("wait-until", waitUntil={"context": "/deadlineAt"}, next="done")}
    document = project({**steps, "done": DONE}, functionsFile=None)
    result = load(tmp_path, document)
    assert codes(result) == []
    assert result.definition is not None
    assert result.definition.definition.functions is None


def test_a_function_without_a_functions_file_is_refused(tmp_path: Path) -> None:
    document = choose("route", "yes", "no")
    del document["functionsFile"]
    assert codes(load(tmp_path, document)) == ["function.definition"]


def test_a_label_that_a_function_never_gives_is_a_warning(tmp_path: Path) -> None:
    source = 'fn route(x) { if x == "a" { "yes" } else { "no" } }'
    result = load(tmp_path, choose("route", "yes", "no", "other"), source)
    assert codes(result) == []
    warning = next(one for one in result.warnings if one.code.endswith("unused-case"))
    assert warning.spot.pointer == "/steps/a/cases/other"


def test_a_label_of_a_function_without_a_case_is_a_warning(tmp_path: Path) -> None:
    source = 'fn route(x) { if x == "a" { "yes" } else { "no" } }'
    result = load(tmp_path, choose("route", "yes"), source)
    assert codes(result) == []
    assert "mapping.uncovered-label" in codes(result, warnings=True)


def test_a_function_that_gives_only_text_is_no_request(tmp_path: Path) -> None:
    call = {"type": "call", "operation": "read", "input": {"function": "word"}, "next": "done"}
    document = project({"a": call, "done": DONE})
    assert codes(load(tmp_path, document, 'fn word() { "x" }')) == ["mapping.type"]


def test_line_ends_of_the_functions_do_not_change_the_revision(tmp_path: Path) -> None:
    source = 'fn route(x) {\n    "yes"\n}\n'
    first = load(tmp_path, choose("route", "yes"), source).definition
    (tmp_path / "functions.rhai").write_bytes(source.replace("\n", "\r\n").encode())
    second = load_project(tmp_path, Catalogue.standard()).definition
    assert first is not None
    assert second is not None
    assert first.definition.revision == second.definition.revision


@pytest.mark.parametrize("kind", ["missing", "link", "folder", "pipe", "latin"])
def test_a_functions_file_that_is_no_text_file_is_refused(tmp_path: Path, kind: str) -> None:
    load(tmp_path, choose("route", "yes"))
    file = tmp_path / "functions.rhai"
    file.unlink()
    match kind:
        case "link":
            file.symlink_to(tmp_path / "workflow.yaml")
        case "folder":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
        case "latin":
            file.write_bytes(b"// \xe9\n")
    expected = {
        "missing": "definition.read",
        "latin": "yaml.not-utf8",
    }
    result = load_project(tmp_path, Catalogue.standard())
    assert codes(result) == [expected.get(kind, "definition.file")]
