"""Scenario files over small projects, as tests write them."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from activities.catalogue import Catalogue
from adapter.authoring import load_project
from adapter.authoring.scenarios import Suite, SuiteReading, SuiteResult, read_suite, run_suite
from interpreter.definition.document import PackagedDefinition
from tests.house.places import ROOT

EXAMPLE = ROOT / "examples" / "reviewed-notice"
REVIEW = {
    "reviewRequestId": "R-1",
    "state": "pending",
    "createdAt": "2026-03-02T08:00:00Z",
    "revision": 1,
}
APPLICATION = {"data": {"domainData": {"applicant": {"email": "a@example.org"}}}}
RESULT = {"decision": "approved", "decidedBy": "kim", "decidedAt": "2026-03-03T08:00:00Z"}
APPROVED: dict[str, Any] = {
    "id": "approved",
    "admittedAt": "2026-03-02T08:00:00Z",
    "input": {"applicationId": "A-1"},
    "replies": {
        "application": [{"type": "success", "value": APPLICATION}],
        "review": [{"type": "success", "value": REVIEW}],
        "notice": [{"type": "success", "value": {"id": "M-1", "status": "accepted"}}],
    },
    "completions": [{"step": "result", "afterSeconds": 60, "value": RESULT}],
    "expect": {"state": "finished"},
}


@cache
def packaged(folder: Path = EXAMPLE) -> PackagedDefinition:
    """The compiled project in a folder."""
    made = load_project(folder, Catalogue.standard()).definition
    assert made is not None
    return made


def changed(path: str = "", value: Any = None) -> dict[str, Any]:
    """The approved case with the member at a dotted path replaced, or removed by None."""
    case = deepcopy(APPROVED)
    target: Any = case
    *parents, last = path.split(".") if path else [""]
    for part in parents:
        target = target[int(part) if part.isdigit() else part]
    if not last:
        return case
    if value is None:
        del target[last]
    else:
        target[int(last) if last.isdigit() else last] = value
    return case


def file_of(*cases: Any, version: str = "coordinator/v1") -> str:
    """The text of a scenario file; JSON is YAML too."""
    document = {"apiVersion": version, "kind": "CoordinatorScenarios", "cases": list(cases)}
    return json.dumps(document, indent=1)


def read(text: str, made: PackagedDefinition | None = None) -> SuiteReading:
    """Read a file over the example, or another project."""
    return read_suite(text.encode(), "scenarios.yaml", (made or packaged()).definition)


def suite(*cases: Any) -> Suite:
    """A file that has no errors."""
    reading = read(file_of(*cases))
    assert reading.suite is not None, reading.diagnostics
    return reading.suite


def run(*cases: Any) -> SuiteResult:
    """The result of these cases over the example."""
    return run_suite(packaged(), suite(*cases))


def codes(found: Any) -> list[str]:
    """The codes of findings without their common prefix."""
    return [one.code.removeprefix("coordinator.") for one in found]
