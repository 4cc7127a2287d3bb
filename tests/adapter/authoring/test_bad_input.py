"""Projects with anything wrong in them: findings with codes and places, never a traceback."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.catalogue import Catalogue
from adapter.authoring import load_project
from adapter.errors import Unavailable
from tests.adapter.authoring.mutations import (
    EXAMPLE,
    FUNCTIONS,
    WORKFLOW,
    example,
    json_values,
    mutated,
    places,
    sound,
)
from tests.adapter.authoring.projects import codes, load, v1alpha1


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A project folder that every example of a property writes anew."""
    place = Path(tempfile.mkdtemp())
    yield place
    shutil.rmtree(place)


@settings(max_examples=120)
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


@settings(max_examples=100)
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
def test_a_path_that_is_no_project_folder_is_a_clear_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(Unavailable) as caught:
        load_project(tmp_path / name, Catalogue.standard())
    assert caught.value.code == "coordinator.definition.read"
    assert caught.value.remedy


def test_the_workflow_file_itself_may_be_named() -> None:
    result = load_project(EXAMPLE / "workflow.yaml", Catalogue.standard())
    assert result.diagnostics == ()
