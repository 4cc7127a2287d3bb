"""The proof of routes: reachability, cycles, what has run, and `first`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.adapter.authoring.projects import (
    DONE,
    branch,
    codes,
    load,
    only,
    project,
    read,
    send,
    step,
    submit,
)

OUTPUT = {"type": "finish", "outcome": "done"}


def finish(mapping: Any) -> dict[str, Any]:
    """A finish that publishes a mapping."""
    return {**OUTPUT, "output": mapping}


def two_arms(mapping: Any) -> dict[str, Any]:
    """Two arms with a call each, joined by a finish that publishes a mapping."""
    return project(
        {
            "which": branch("left", "right"),
            "left": read(),
            "right": submit(),
            "done": finish(mapping),
        }
    )


def test_a_step_without_a_route_is_named(tmp_path: Path) -> None:
    result = load(tmp_path, project({"a": read(), "b": read(), "done": DONE}))
    assert only(result).code == "coordinator.definition.unreachable"
    assert only(result).spot.pointer == "/steps/b"


def test_a_cycle_is_named_step_by_step(tmp_path: Path) -> None:
    steps = {"a": read("b"), "b": branch("a", "done"), "done": DONE}
    result = load(tmp_path, project(steps))
    assert only(result).code == "coordinator.definition.cycle"
    assert "`a` → `b` → `a`" in only(result).message


def test_a_step_that_leads_to_itself_is_a_cycle(tmp_path: Path) -> None:
    steps = {"a": branch("a", "done"), "done": DONE}
    assert codes(load(tmp_path, project(steps))) == ["definition.cycle"]


def test_a_step_on_the_way_may_be_read(tmp_path: Path) -> None:
    steps = {"a": read("which"), "which": branch("done", "done"), "done": finish({"step": "a"})}
    assert codes(load(tmp_path, project(steps))) == []


def test_a_step_of_one_arm_may_not_be_read_after_the_join(tmp_path: Path) -> None:
    result = load(tmp_path, two_arms({"step": "left"}))
    assert only(result).code == "coordinator.mapping.dominance"
    assert only(result).spot.pointer == "/steps/done/output"


def test_a_step_may_not_read_itself_or_a_later_one(tmp_path: Path) -> None:
    later = project({"a": read("b", input={"step": "b"}), "b": read(), "done": DONE})
    assert codes(load(tmp_path, later)) == ["mapping.dominance"]
    itself = project({"a": read(input={"step": "a"}), "done": DONE})
    assert codes(load(tmp_path, itself)) == ["mapping.dominance"]


def test_an_undeclared_step_is_refused_with_the_nearest(tmp_path: Path) -> None:
    result = load(tmp_path, project({"a": read(), "done": finish({"step": "b"})}))
    assert only(result).code == "coordinator.mapping.reference"
    assert "`a`" in only(result).remedy


def test_first_takes_the_arm_that_ran(tmp_path: Path) -> None:
    mapping = {"first": [{"step": "left"}, {"step": "right"}]}
    assert codes(load(tmp_path, two_arms(mapping))) == []


def test_first_without_an_alternative_for_every_arm_is_refused(tmp_path: Path) -> None:
    result = load(tmp_path, two_arms({"first": [{"step": "left"}]}))
    assert codes(result) == ["mapping.dominance"]


def test_first_may_end_with_a_literal(tmp_path: Path) -> None:
    mapping = {"first": [{"step": "left"}, {"literal": None}]}
    assert codes(load(tmp_path, two_arms(mapping))) == []


def test_an_alternative_that_is_never_taken_is_a_warning(tmp_path: Path) -> None:
    mapping = {"first": [{"step": "left"}, {"literal": 1}, {"step": "right"}]}
    result = load(tmp_path, two_arms(mapping))
    assert "mapping.unused-alternative" in codes(result, warnings=True)
    assert codes(result) == []


def test_an_alternative_is_judged_only_on_its_own_routes(tmp_path: Path) -> None:
    # `left` gives no reviewRequestId, but where it ran the second alternative is not taken.
    mapping = {"first": [{"step": "left", "path": "/data"}, {"step": "right", "path": "/state"}]}
    assert codes(load(tmp_path, two_arms(mapping))) == []


def test_alternatives_with_several_steps_need_all_of_them(tmp_path: Path) -> None:
    pair = {"list": [{"step": "left"}, {"step": "more"}]}
    document = two_arms({"first": [pair, {"step": "right"}]})
    document["steps"]["left"]["next"] = "more"
    document["steps"]["more"] = read()
    assert codes(load(tmp_path, document)) == []
    document["steps"]["which"]["cases"]["other"] = "more"
    assert codes(load(tmp_path, document)) == ["mapping.dominance"]


def test_after_a_routed_refusal_the_output_is_the_refusal_code(tmp_path: Path) -> None:
    refused = {"recipient-suppressed": "sorry"}
    steps = {
        "a": send(onDeclaredRefusal=refused),
        "sorry": finish({"step": "a", "path": "/refusalCode"}),
        "done": finish({"step": "a", "path": "/id"}),
    }
    assert codes(load(tmp_path, project(steps))) == []
    steps["sorry"] = finish({"step": "a", "path": "/id"})
    result = load(tmp_path, project(steps))
    assert only(result).code == "coordinator.mapping.missing-member"
    assert "after the refusal `recipient-suppressed`" in only(result).message


def test_after_a_timeout_a_wait_has_no_value(tmp_path: Path) -> None:
    wait = step(
        "wait-for", call="a", completion="result", timeoutSeconds=60, next="done", onTimeout="late"
    )
    steps = {
        "a": submit("b"),
        "b": wait,
        "late": finish({"step": "b", "path": "/decision"}),
        "done": finish({"step": "b", "path": "/decision"}),
    }
    result = load(tmp_path, project(steps))
    assert only(result).spot.pointer == "/steps/late/output/path"
    assert only(result).code == "coordinator.mapping.missing-member"


def test_an_outcome_without_a_finish_is_refused(tmp_path: Path) -> None:
    document = project({"a": read(), "done": DONE}, outcomes={"done": True, "never": True})
    result = load(tmp_path, document)
    assert only(result).code == "coordinator.definition.outcome"
    assert only(result).spot.pointer == "/outcomes/never"


def test_a_finish_without_output_needs_an_outcome_that_takes_null(tmp_path: Path) -> None:
    document = project({"a": read(), "done": DONE}, outcomes={"done": {"type": "object"}})
    assert codes(load(tmp_path, document)) == ["definition.outcome"]


@pytest.mark.parametrize("size", [64])
def test_a_project_of_64_steps_with_many_joins_is_checked(tmp_path: Path, size: int) -> None:
    steps: dict[str, Any] = {}
    for index in range(0, size - 4, 3):
        following = f"s{index + 3}" if index + 3 < size - 4 else "done"
        steps[f"s{index}"] = branch(f"s{index + 1}", f"s{index + 2}")
        steps[f"s{index + 1}"] = read(following)
        steps[f"s{index + 2}"] = submit(following)
    steps["done"] = finish({"first": [{"step": "s1"}, {"step": "s2"}]})
    assert codes(load(tmp_path, project(steps))) == []
