"""Explanations, pictures and the schema of a project."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from activities.catalogue import Catalogue
from activities.yaml.reader import read_yaml
from adapter.authoring import explain, graph, load_project, project_schema
from adapter.authoring.diagnostics import Report
from adapter.authoring.views.layers import arrange
from interpreter.definition.document import PackagedDefinition
from tests.adapter.authoring.projects import DONE, branch, load, project, read, submit
from tests.house.places import ROOT

EXAMPLE = ROOT / "examples" / "reviewed-notice"


@pytest.fixture(scope="module")
def example() -> PackagedDefinition:
    """The compiled example."""
    definition = load_project(EXAMPLE, Catalogue.standard()).definition
    assert definition is not None
    return definition


def test_explain_names_what_each_step_reads_and_risks(example: PackagedDefinition) -> None:
    steps = {one["id"]: one for one in explain(example).to_json()["steps"]}
    assert steps["application"]["reads"] == ["input /applicationId"]
    assert steps["notice"]["effect"] == "mutation"
    assert steps["notice"]["recovery"] == "same-command-and-receipt"
    assert steps["result"]["next"][1] == {"outlet": "expired", "step": "withdraw-late-review"}


def test_explain_names_every_way_to_end(example: PackagedDefinition) -> None:
    endings = {(one.state, one.name) for one in explain(example).endings}
    outcomes = set(example.definition.outcomes)
    assert outcomes == {name for state, name in endings} & outcomes
    assert ("cancelled", "cancelled") in endings
    assert ("expired", "deadline") in endings
    assert ("failed", "product-refused") in endings
    assert ("attention", "unknown effect") in endings


def test_a_run_that_only_reads_is_never_cancelled_after_an_effect(
    example: PackagedDefinition, tmp_path: Path
) -> None:
    made = load(tmp_path, project({"look": read(), "done": DONE})).definition
    assert made is not None
    assert [one.state for one in explain(made).endings if one.name == "cancel"] == ["cancelled"]
    both = [one.state for one in explain(example).endings if one.name == "cancel"]
    assert both == ["cancelled", "cancelled-after-effect"]


def test_explain_in_words_names_every_step(example: PackagedDefinition) -> None:
    text = explain(example).to_text()
    assert all(f"\n  {name}: " in text for name in example.definition.nodes)
    assert "at most 14 days" in text


def test_explain_shows_how_the_first_step_ends_a_run_and_each_name_once(tmp_path: Path) -> None:
    made = load(tmp_path, project({"look": read(), "done": DONE})).definition
    assert made is not None
    lines = explain(made).to_text().splitlines()
    assert lines[0] == "small"
    [at] = [number for number, line in enumerate(lines) if "refuses at step look" in line]
    assert lines[at + 1] == "      look"


def test_explain_tells_the_limits_and_that_nothing_was_asked(example: PackagedDefinition) -> None:
    told = explain(example).to_json()
    assert (told["limits"]["operations"], told["limits"]["sourceBytes"]) == (100_000, 65_536)
    assert [told[name] for name in ("networkAccess", "databaseAccess")] == [False, False]
    assert told["revision"] == example.definition.revision


def test_an_explanation_is_json(example: PackagedDefinition) -> None:
    assert json.loads(json.dumps(explain(example).to_json()))["workflow"] == "reviewed-notice"


def test_mermaid_draws_every_edge(example: PackagedDefinition) -> None:
    picture = graph(example, "mermaid")
    edges = sum(len(node.outlets) for node in example.definition.nodes.values())
    assert picture.count("-->") == edges
    assert '-- "approved" -->' in picture


def test_dot_quotes_titles(tmp_path: Path) -> None:
    document = project({"a": read(title='Say "no" \\'), "done": DONE})
    definition = load(tmp_path, document).definition
    assert definition is not None
    assert 'label="Say \\"no\\" \\\\"' in graph(definition, "dot")


def test_svg_is_xml_with_a_box_for_every_step(example: PackagedDefinition) -> None:
    root = ET.fromstring(graph(example, "svg"))
    space = "{http://www.w3.org/2000/svg}"
    boxes = root.findall(f"{space}g")
    assert len(boxes) == len(example.definition.nodes)


def test_titles_can_not_break_a_picture(tmp_path: Path) -> None:
    document = project({"a": read(title="</text><script>&\"'`#;"), "done": DONE})
    definition = load(tmp_path, document).definition
    assert definition is not None
    ET.fromstring(graph(definition, "svg"))
    assert "<script>" not in graph(definition, "mermaid")


def instance(text: str) -> Any:
    """The JSON of a workflow.yaml."""
    tree, _ = read_yaml(text.encode(), "workflow.yaml", Report())
    assert tree is not None
    return tree.to_json()


def test_the_schema_accepts_the_example() -> None:
    schema = project_schema()
    Draft202012Validator.check_schema(schema)
    workflow = instance((EXAMPLE / "workflow.yaml").read_text())
    assert list(Draft202012Validator(schema).iter_errors(workflow)) == []


@pytest.mark.parametrize(
    "steps",
    [
        {"a": read(nxt="done"), "done": DONE},
        {"a": read(input={"inpt": ""}), "done": DONE},
        {"a": {"type": "sql"}, "done": DONE},
        {"A": DONE},
        {"a": submit(policy={"attempts": 0}), "done": DONE},
        {"a": branch("done", "done", cases={}), "done": DONE},
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(steps: dict[str, Any], tmp_path: Path) -> None:
    document = project(steps)
    assert not Draft202012Validator(project_schema()).is_valid(document)
    assert load(tmp_path, document).errors


def test_several_ways_to_one_step_share_a_line(tmp_path: Path) -> None:
    document = project({"a": branch("done", "done"), "done": DONE})
    definition = load(tmp_path, document).definition
    assert definition is not None
    picture = graph(definition, "svg")
    assert picture.count('class="edge"') == 1
    assert ">yes</text>" in picture
    assert ">no</text>" in picture


def test_an_edge_bends_around_the_steps_between(example: PackagedDefinition) -> None:
    layers = arrange(example.definition, {("decision", "notice"): ("approved",)})
    (edge,) = layers.edges
    assert len(edge.path) > 2
    assert all(any(bend in row for row in layers.rows) for bend in edge.path)
