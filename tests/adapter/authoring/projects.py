"""Small projects as values, written to a folder and loaded."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

from activities.catalogue import Catalogue
from adapter.authoring import Diagnostic, ProjectResult, load_project

FUNCTIONS = """
fn same(value) { value }
fn route(value) { if value == 1 { "yes" } else { "no" } }
fn request() { #{ collection: "things", recordId: "1" } }
"""

READ = {"object": {"collection": {"literal": "things"}, "recordId": {"input": "/id"}}}
SUBMIT = {"object": {"subject": {"object": {"id": {"input": "/id"}}}}}
MESSAGE = {
    "object": {
        "senderProfile": {"literal": "desk"},
        "to": {"object": {"email": {"literal": "a@example.org"}}},
        "template": {"object": {"id": {"literal": "t"}, "version": {"literal": "1"}}},
    }
}


def step(type: str, **members: Any) -> dict[str, Any]:
    """A step of any type."""
    return {"type": type, **members}


def read(next: str = "done", **members: Any) -> dict[str, Any]:
    """A call that reads a record."""
    return {"type": "call", "operation": "read", "input": READ, "next": next, **members}


def submit(next: str = "done", **members: Any) -> dict[str, Any]:
    """A call that submits a review request."""
    return {"type": "call", "operation": "submit", "input": SUBMIT, "next": next, **members}


def send(next: str = "done", **members: Any) -> dict[str, Any]:
    """A call that submits a message."""
    return {"type": "call", "operation": "send", "input": MESSAGE, "next": next, **members}


def branch(yes: str, no: str, **members: Any) -> dict[str, Any]:
    """A choose with the cases ``yes`` and ``no``."""
    chosen = {"function": "same", "arguments": [{"input": "/id"}]}
    return {"type": "choose", "choose": chosen, "cases": {"yes": yes, "no": no}, **members}


DONE = {"type": "finish", "outcome": "done"}


def project(steps: dict[str, Any], **members: Any) -> dict[str, Any]:
    """A ``coordinator/v1`` project with these steps, of which the first is the start."""
    document: dict[str, Any] = {
        "apiVersion": "coordinator/v1",
        "kind": "CoordinatorProject",
        "project": {"id": "small", "version": "1"},
        "input": {
            "type": "object",
            "additionalProperties": False,
            "required": ["id"],
            "properties": {
                "id": {"type": "string", "minLength": 1},
                "at": {"type": "string", "format": "date-time"},
                "count": {"type": "integer"},
            },
        },
        "connections": {"registry": "breg", "reviews": "casework", "notices": "messaging"},
        "operations": {
            "read": {"operation": "breg.read-record/v1", "connection": "registry"},
            "submit": {"operation": "casework.submit-review-request/v1", "connection": "reviews"},
            "send": {"operation": "messaging.submit-message/v1", "connection": "notices"},
        },
        "functionsFile": "functions.rhai",
        "deadlineSeconds": 86400,
        "start": next(iter(steps), "none"),
        "steps": steps,
        "outcomes": {"done": True},
    }
    document.update(members)
    kept = {key: value for key, value in document.items() if value is not None}
    return deepcopy(kept)


def load(folder: Path, document: Any, functions: str = FUNCTIONS) -> ProjectResult:
    """Write a project (a value, or the text of workflow.yaml) and load it."""
    text = document if isinstance(document, str) else json.dumps(document, indent=1)
    (folder / "workflow.yaml").write_text(text)
    (folder / "functions.rhai").write_text(functions)
    return load_project(folder, Catalogue.standard())


def codes(result: ProjectResult, *, warnings: bool = False) -> list[str]:
    """The codes of the errors (or of all findings) without their common prefix."""
    found = result.diagnostics if warnings else result.errors
    return [one.code.removeprefix("coordinator.") for one in found]


def only(result: ProjectResult) -> Diagnostic:
    """The one error of a result."""
    assert len(result.errors) == 1, [(one.code, one.message) for one in result.errors]
    return result.errors[0]


def v1alpha1(**members: Any) -> dict[str, Any]:
    """A project of the public format with every step type."""
    document: dict[str, Any] = {
        "apiVersion": "id.registrystack.org/formats/coordinator/project/v1alpha1",
        "kind": "CoordinatorProject",
        "project": {"id": "older", "version": "1"},
        "input": {"type": "object"},
        "connections": {"records": "breg", "words": "external-http", "minds": "decision"},
        "functionsFile": "functions.rhai",
        "deadlineSeconds": 3600,
        "start": "due",
        "steps": {
            "due": step("wait-until", waitUntil=_same({"type": "input"}), next="look"),
            "look": step(
                "call",
                connection="records",
                operation="read-record",
                input=_same({"type": "input"}),
                next="fetch",
            ),
            "fetch": step(
                "call",
                connection="words",
                operation="external-get",
                input=_same({"type": "step", "step": "look"}),
                next="judge",
            ),
            "judge": step(
                "call",
                connection="minds",
                operation="evaluate-decision",
                input=_same({"type": "step", "step": "fetch"}),
                next="which",
            ),
            "which": step(
                "choose",
                choose=_same({"type": "step", "step": "judge"}),
                cases={"yes": "done", "no": "done"},
            ),
            "done": DONE,
        },
        "outcomes": {"done": {"type": "null"}},
    }
    document.update(members)
    return deepcopy(document)


def _same(argument: Any) -> dict[str, Any]:
    return {"function": "same", "arguments": [argument]}
