"""The example projects: sound, whole, and every way to end tried by a scenario."""

from __future__ import annotations

from pathlib import Path

import pytest

from activities.catalogue import Catalogue
from adapter.authoring import ProjectResult, load_project
from adapter.authoring.scenarios import SCENARIOS_FILE, SuiteResult, load_suite, run_suite
from interpreter.contract.operations import EffectClass
from interpreter.definition.nodes import REFUSAL_OUTLET, CallNode, FinishNode, WaitNode
from tests.house.places import ROOT

EXAMPLES = [ROOT / "examples" / name for name in ("reviewed-notice", "followed-application")]


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda example: example.name)
def example(request: pytest.FixtureRequest) -> Path:
    """The folder of an example."""
    folder: Path = request.param
    return folder


@pytest.fixture(scope="module")
def loaded(example: Path) -> ProjectResult:
    """The example as `check` sees it."""
    return load_project(example, Catalogue.standard())


@pytest.fixture(scope="module")
def played(example: Path, loaded: ProjectResult) -> SuiteResult:
    """Its scenarios, played."""
    assert loaded.definition is not None
    reading = load_suite(example / SCENARIOS_FILE, loaded.definition.definition)
    assert reading.suite is not None
    return run_suite(loaded.definition, reading.suite)


def test_it_has_no_finding(loaded: ProjectResult) -> None:
    assert loaded.diagnostics == ()


def test_every_declared_refusal_is_routed_and_every_wait_has_its_ways_out(
    loaded: ProjectResult,
) -> None:
    assert loaded.definition is not None
    definition = loaded.definition.definition
    for node in definition.nodes.values():
        if isinstance(node, CallNode):
            contract = definition.operations[node.operation].contract
            routed = {f"{REFUSAL_OUTLET}{code}" for code in contract.refusals}
            assert contract.effect is EffectClass.READ or routed <= set(node.outlets)
        if isinstance(node, WaitNode):
            done = {"completed", "resumed"} & set(node.outlets)
            assert len(done) == 1
            assert set(node.outlets) - done == {"expired", "cancelled"}


def test_every_scenario_passes(played: SuiteResult) -> None:
    assert [one.message for one in played.findings] == []
    assert played.passed


def test_the_scenarios_take_every_outlet(played: SuiteResult) -> None:
    assert played.coverage.untaken == ()


def test_the_scenarios_reach_every_finish(loaded: ProjectResult, played: SuiteResult) -> None:
    assert loaded.definition is not None
    nodes = loaded.definition.definition.nodes
    finishes = {name for name, node in nodes.items() if isinstance(node, FinishNode)}
    reached = {one.trace.path[-1] for one in played.cases if one.trace is not None}
    assert finishes <= reached
