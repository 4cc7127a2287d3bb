"""Projects with anything wrong in them: findings with codes and places, never a traceback."""

from __future__ import annotations

import random
import shutil
import string
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.catalogue import Catalogue
from adapter.authoring import (
    CODES,
    ProjectResult,
    load_project,
    render_github,
    render_json,
    render_sarif,
    render_text,
)
from adapter.errors import Usage
from tests.adapter.authoring.projects import codes, load, v1alpha1
from tests.house.places import ROOT

EXAMPLE = ROOT / "examples" / "reviewed-notice"
WORKFLOW = (EXAMPLE / "workflow.yaml").read_text()
FUNCTIONS = (EXAMPLE / "functions.rhai").read_text()

_KEYS = ("input", "step", "path", "literal", "object", "list", "function", "first", "type", "next")
_WORDS = ("application", "review", "result", "call", "choose", "approved", "", "/", "~", "${X}")

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(_WORDS)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(_KEYS) | st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A project folder that every example of a property writes anew."""
    place = Path(tempfile.mkdtemp())
    yield place
    shutil.rmtree(place)


def sound(result: ProjectResult) -> None:
    """Check that a result keeps every promise about findings, and render it every way."""
    assert (result.definition is None) == bool(result.errors)
    for one in result.diagnostics:
        assert one.code in CODES
        assert one.message
        assert one.remedy
        source = result.sources.files.get(one.spot.file)
        assert one.spot.line >= 1
        assert one.spot.column >= 1
        if source is not None:
            assert one.spot.line <= len(source.lines) + 1
    render_text(result.diagnostics, result.sources)
    render_json(result.diagnostics)
    render_github(result.diagnostics)
    render_sarif(result.diagnostics)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place inside a JSON value."""
    found = [path] if path else []
    items: Any = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    for key, inner in items:
        found += places(inner, (*path, key))
    return found


def mutated(document: Any, chance: random.Random, value: Any) -> Any:
    """The document with one place deleted, replaced, renamed, doubled or moved."""
    path = chance.choice(places(document))
    place = document
    for key in path[:-1]:
        place = place[key]
    kind = chance.randrange(5)
    if kind == 0:
        del place[path[-1]]
    elif kind == 1:
        place[path[-1]] = value
    elif kind == 2 and isinstance(place, dict):
        place[chance.choice(_KEYS)] = place.pop(path[-1])
    elif kind == 3 and isinstance(place, dict):
        place[chance.choice(string.ascii_letters)] = place[path[-1]]
    else:
        other = document
        for key in chance.choice(places(document)):
            other = other[key]
        place[path[-1]] = _copy(other)
    return document


def _copy(value: Any, depth: int = 0) -> Any:
    """A copy that ends where a moved part would contain itself."""
    if depth > 20:
        return None
    if isinstance(value, dict):
        return {key: _copy(inner, depth + 1) for key, inner in value.items()}
    return [_copy(inner, depth + 1) for inner in value] if isinstance(value, list) else value


def example() -> Any:
    """The example's workflow.yaml as a value."""
    from adapter.authoring.diagnostics import Report
    from adapter.authoring.formats.yaml import read_yaml

    tree, _ = read_yaml(WORKFLOW.encode(), "workflow.yaml", Report())
    assert tree is not None
    return tree.to_json()


@settings(max_examples=300)
@given(seed=st.integers(0, 2**32), values=st.lists(json_values, min_size=1, max_size=4))
def test_a_mutated_project_gives_findings_or_a_definition(
    folder: Path, seed: int, values: list[Any]
) -> None:
    chance = random.Random(seed)
    document = example()
    for value in values:
        document = mutated(document, chance, value)
        if not places(document):
            break
    sound(load(folder, document, FUNCTIONS))


@settings(max_examples=100)
@given(seed=st.integers(0, 2**32), values=st.lists(json_values, min_size=1, max_size=3))
def test_a_mutated_older_project_gives_findings_or_a_definition(
    folder: Path, seed: int, values: list[Any]
) -> None:
    chance = random.Random(seed)
    document = v1alpha1()
    for value in values:
        document = mutated(document, chance, value)
        if not places(document):
            break
    sound(load(folder, document))


@settings(max_examples=200)
@given(seed=st.integers(0, 2**32), edits=st.integers(1, 6))
def test_mutated_text_gives_findings_or_a_definition(folder: Path, seed: int, edits: int) -> None:
    chance = random.Random(seed)
    text, functions = WORKFLOW, FUNCTIONS
    for _ in range(edits):
        at = chance.randrange(len(text))
        piece = chance.choice(
            [":", "- ", "\n", "  ", "\t", "&a ", "*a", "!t ", "{", "]", '"', "#", "0"]
        )
        text = text[:at] + piece + text[at + chance.randrange(3) :]
        at = chance.randrange(len(functions))
        functions = functions[:at] + chance.choice('{}();"`$fn ') + functions[at + 1 :]
    sound(load(folder, text, functions))


@settings(max_examples=100)
@given(schema=json_values)
def test_any_schema_gives_findings_or_a_definition(folder: Path, schema: Any) -> None:
    document = example()
    document["input"] = schema
    document["outcomes"]["rejected"] = {"allOf": [schema, {"$ref": "#"}], "$defs": {"a": schema}}
    sound(load(folder, document, FUNCTIONS))


DEEP = "[" * 100 + "]" * 100


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: coordinator/v1\nkind: CoordinatorProject\ninput: " + DEEP,
        WORKFLOW.replace("{input: /applicationId}", "{literal: " + DEEP + "}"),
        WORKFLOW.replace("{input: /applicationId}", "{list: [" * 60 + "]}" * 60),
        WORKFLOW.replace("{input: /applicationId}", "{literal: " + "x" * 900_000 + "}"),
        WORKFLOW.replace("type: string", "{$ref: '#/$defs/x'}"),
        WORKFLOW + "\n" + "# " + "x" * 1_048_576,
        "\ufeff" + WORKFLOW.replace("\n", "\r\n"),
        WORKFLOW.replace("applicationId", "a\\u0000"),
    ],
)
def test_an_extreme_project_gives_findings_or_a_definition(folder: Path, text: str) -> None:
    sound(load(folder, text, FUNCTIONS))


def test_a_schema_that_refers_to_itself_is_no_trap(tmp_path: Path) -> None:
    document = example()
    loop = {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}},
    }
    document["input"] = {"allOf": [loop, {"$ref": "#"}], "$defs": loop["$defs"]}
    document["outcomes"]["rejected"] = loop
    sound(load(tmp_path, document, FUNCTIONS))


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    plain = load(tmp_path, WORKFLOW, FUNCTIONS)
    (tmp_path / "workflow.yaml").write_bytes(
        b"\xef\xbb\xbf" + WORKFLOW.replace("\n", "\r\n").encode()
    )
    other = load_project(tmp_path, Catalogue.standard())
    assert plain.definition == other.definition
    assert plain.definition is not None


@pytest.mark.parametrize("kind", ["missing", "link", "folder", "unreadable"])
def test_a_workflow_file_that_is_no_file_is_refused(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "workflow.yaml"
    if kind == "link":
        file.symlink_to(EXAMPLE / "workflow.yaml")
    elif kind == "folder":
        file.mkdir()
    elif kind == "unreadable":
        file.symlink_to(file)
    expected = "definition.read" if kind == "missing" else "definition.file"
    assert codes(load_project(tmp_path, Catalogue.standard())) == [expected]


@pytest.mark.parametrize("name", ["absent", "file.txt", "a\0b", "x" * 5000])
def test_a_path_that_is_no_project_folder_is_a_usage_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(Exception, match="project") as caught:
        load_project(tmp_path / name, Catalogue.standard())
    assert isinstance(caught.value, Usage) or caught.value.code == "project.unreadable"  # type: ignore[attr-defined]


def test_the_workflow_file_itself_may_be_named() -> None:
    result = load_project(EXAMPLE / "workflow.yaml", Catalogue.standard())
    assert result.diagnostics == ()
