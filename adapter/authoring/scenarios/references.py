"""What a case refers to: every step and outcome it names must be in the workflow."""

from __future__ import annotations

from collections.abc import Iterator

from activities.yaml.sources import child_pointer
from adapter.authoring.diagnostics.diagnostic import Report
from adapter.authoring.diagnostics.nearest import suggestion
from adapter.authoring.scenarios.suite import Suite
from interpreter.definition.document import Definition
from interpreter.scenario import Case
from interpreter.scenario.compare import effect_id


def check_references(
    case: Case, index: int, suite: Suite, definition: Definition, report: Report
) -> None:
    """Report every step and outcome that the workflow does not have."""
    for pointer, step in _steps(case):
        if step not in definition.nodes:
            remedy = suggestion(step, definition.nodes)
            message = f"the workflow has no step `{step}`"
            spot = suite.spot(index, pointer)
            report.add("coordinator.scenarios.unknown-reference", spot, message, remedy)
    outcome = case.expected.get("outcome")
    if isinstance(outcome, str) and outcome not in definition.outcomes:
        spot = suite.spot(index, "/expect/outcome/value")
        message = f"the workflow has no outcome `{outcome}`"
        remedy = suggestion(outcome, definition.outcomes)
        report.add("coordinator.scenarios.unknown-reference", spot, message, remedy)


def _steps(case: Case) -> Iterator[tuple[str, str]]:
    for step in case.replies:
        yield child_pointer("/replies", step), step
    for step in case.recovery:
        yield child_pointer("/recovery", step), step
    for kind in ("completions", "signals", "decisions", "acts"):
        for index, thing in enumerate(getattr(case, kind)):
            if thing.step:
                yield f"/{kind}/{index}/step", thing.step
    if case.cancel is not None and case.cancel.step:
        yield "/cancel/step", case.cancel.step
    for index, step in enumerate(case.expected.get("path") or ()):
        yield f"/expect/path/{index}", step
    for name in case.expected.get("effects") or ():
        node = effect_id(name).rpartition("/")[2].partition(":")[0]
        yield child_pointer("/expect/effects", name), node
