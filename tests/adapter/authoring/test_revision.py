"""What changes a revision, and what does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adapter.authoring import diff
from interpreter.definition.document import PackagedDefinition
from tests.adapter.authoring.projects import DONE, FUNCTIONS, load, project, read, step


def small() -> dict[str, Any]:
    """A project with a title in every place that may have one."""
    document = project({"a": read(title="Read", description="It reads."), "done": DONE})
    document["project"] |= {"title": "Small", "description": "A small project."}
    document["input"]["title"] = "Input"
    document["input"]["properties"]["title"] = {"type": "string", "description": "A title."}
    return document


def packaged(folder: Path, document: Any, functions: str = FUNCTIONS) -> PackagedDefinition:
    """The compiled project."""
    definition = load(folder, document, functions).definition
    assert definition is not None
    return definition


def reordered(value: Any) -> Any:
    """The same JSON with every object's members in reverse order."""
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return [reordered(item) for item in value] if isinstance(value, list) else value


def edited(*path: str, to: Any) -> dict[str, Any]:
    """The project with one member replaced."""
    document = small()
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return document


@pytest.mark.parametrize(
    "document",
    [
        edited("project", "version", to="2"),
        edited("project", "title", to="Other"),
        edited("project", "description", to="Other"),
        edited("steps", "a", "title", to="Other"),
        edited("steps", "a", "description", to="Other"),
        edited("input", "title", to="Other"),
        edited("input", "properties", "title", "description", to="Other"),
        edited("connections", to={**small()["connections"], "spare": "messaging"}),
        reordered(small()),
        json.dumps(small(), indent=4) + "\n# a comment\n",
    ],
)
def test_words_for_people_and_layout_do_not_change_the_revision(
    tmp_path: Path, document: Any
) -> None:
    before = packaged(tmp_path, small()).definition.revision
    assert packaged(tmp_path, document).definition.revision == before


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        (edited("deadlineSeconds", to=86399), "/deadlineSeconds"),
        (edited("project", "id", to="other"), "/id"),
        (
            edited("input", "properties", "title", to={"type": "null"}),
            "/inputSchema/properties/title/type",
        ),
        (edited("outcomes", "done", to={}), "/outcomes/done"),
        (edited("steps", "a", "policy", to={"attempts": 9}), "/nodes/a/policy/attempts"),
        (
            edited("steps", "a", "input", "object", "collection", "literal", to="others"),
            "/nodes/a/input/object/collection/literal",
        ),
    ],
)
def test_what_changes_execution_changes_the_revision(
    tmp_path: Path, document: Any, pointer: str
) -> None:
    difference = diff(packaged(tmp_path, small()), packaged(tmp_path, document))
    assert difference.changes_revision
    assert [one.pointer for one in difference.execution] == [pointer]
    assert difference.labels == ()


def test_a_changed_function_changes_the_revision(tmp_path: Path) -> None:
    old = packaged(tmp_path, small())
    new = packaged(tmp_path, small(), FUNCTIONS + "fn more() { 1 }\n")
    assert [one.pointer for one in diff(old, new).execution] == ["/functions/source"]


def test_a_changed_title_is_told_apart(tmp_path: Path) -> None:
    old, new = packaged(tmp_path, small()), packaged(tmp_path, edited("project", "title", to="B"))
    difference = diff(old, new)
    assert not difference.changes_revision
    assert [one.to_json() for one in difference.labels] == [
        {"kind": "changed", "pointer": "/title", "old": "Small", "new": "B"}
    ]
    assert difference.to_text().startswith("the revision stays sha256:")


def test_added_and_removed_steps_are_told(tmp_path: Path) -> None:
    document = small()
    document["steps"]["a"]["next"] = "b"
    document["steps"]["b"] = step("wait-until", waitUntil={"context": "/deadlineAt"}, next="done")
    old, new = packaged(tmp_path, small()), packaged(tmp_path, document)
    assert "added /nodes/b" in diff(old, new).to_text()
    assert "removed /nodes/b" in diff(new, old).to_text()
    assert diff(old, new).to_json()["revisionChanges"] is True


def test_equal_projects_give_equal_bytes(tmp_path: Path) -> None:
    one = packaged(tmp_path, small()).definition.to_bytes()
    assert packaged(tmp_path, reordered(small())).definition.to_bytes() == one
