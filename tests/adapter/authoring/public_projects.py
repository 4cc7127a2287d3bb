"""Whole projects of the public format, as their authors would have written them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "public"
PROJECTS = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())

_FORMATS = "id.registrystack.org/formats/coordinator"
_FUNCTIONS = """
fn at(input) { input.at }
fn onward(input) { if input.stop_at == "nowhere" { "on" } else { "on" } }
fn record(input) { #{ collection: "applications", recordId: input.id } }
fn count(record) { record.data.domainData.keys().len }
"""


def longest_project(folder: Path) -> Path:
    """A project with all of the 64 steps that the format allows, 60 choices in a row."""
    choices = 60
    steps: dict[str, Any] = {
        "due": {"type": "wait-until", "waitUntil": _call("at"), "next": "look"},
        "look": {
            "type": "call",
            "connection": "records",
            "operation": "read-record",
            "input": _call("record"),
            "next": "c0",
        },
        "early": {"type": "finish", "outcome": "done"},
        "last": {
            "type": "finish",
            "outcome": "done",
            "output": {"function": "count", "arguments": [{"type": "step", "step": "look"}]},
        },
    }
    for number in range(choices):
        following = "last" if number == choices - 1 else f"c{number + 1}"
        steps[f"c{number}"] = {
            "type": "choose",
            "choose": _call("onward"),
            "cases": {"on": following, "off": "early"},
        }
    document = {
        "apiVersion": f"{_FORMATS}/project/v1alpha1",
        "kind": "CoordinatorProject",
        "project": {"id": "longest", "version": "1"},
        "input": {"type": "object"},
        "connections": {"records": "breg"},
        "functionsFile": "functions.rhai",
        "deadlineSeconds": 31_536_000,
        "start": "due",
        "steps": steps,
        "outcomes": {"done": True},
    }
    case = {
        "id": "whole",
        "admittedAt": "2026-03-01T08:00:00Z",
        "input": {"at": "2026-06-01T08:00:00Z", "id": "A-1", "stop_at": "end"},
        "replies": {
            "look": [{"type": "success", "value": {"data": {"domainData": {"a": 1, "b": 2}}}}]
        },
        "expect": {
            "path": ["due", "look", *(f"c{number}" for number in range(choices)), "last"],
            "state": "completed",
            "output": 2,
        },
    }
    scenarios = {
        "apiVersion": f"{_FORMATS}/scenarios/v1alpha1",
        "kind": "CoordinatorScenarios",
        "cases": [case],
    }
    (folder / "workflow.yaml").write_text(json.dumps(document, indent=1))
    (folder / "functions.rhai").write_text(_FUNCTIONS)
    (folder / "scenarios.yaml").write_text(json.dumps(scenarios, indent=1))
    return folder


def _call(function: str) -> dict[str, Any]:
    return {"function": function, "arguments": [{"type": "input"}]}
