"""The project that the language benchmark measures: 64 steps that read, choose and tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

FUNCTIONS = """\
// What a record is about, and whom to tell.
fn verdict(record, limit) {
    let fields = record.data.domainData;
    if fields.amount > limit && fields.status == "open" { "notify" } else { "skip" }
}

fn notice(record, run_id, number) {
    let fields = record.data.domainData;
    let name = fields.applicant?.name ?? "applicant";
    #{
        senderProfile: "notices",
        to: #{ email: fields.applicant.email },
        template: #{ id: `notice-${number}`, version: "1" },
        data: #{ name: name, amount: fields.amount },
        correlationId: run_id
    }
}
"""


def project(steps: int) -> dict[str, Any]:
    """A ``coordinator/v1`` project: blocks of three steps, a few short ones, and a finish."""
    found: dict[str, Any] = {}
    blocks = (steps - 1) // 3
    extra = [f"look-{number}" for number in range((steps - 1) % 3)]
    starts = [*(f"read-{number}" for number in range(blocks)), *extra, "done"]
    for number in range(blocks):
        found |= _block(number, starts[number + 1])
    for name, after in zip(extra, starts[blocks + 1 :], strict=True):
        found[name] = _read(after)
    found["done"] = {"type": "finish", "outcome": "done"}
    return {
        "apiVersion": "coordinator/v1",
        "kind": "CoordinatorProject",
        "project": {"id": "sixty-four", "version": "1", "title": "Many records"},
        "input": {
            "type": "object",
            "additionalProperties": False,
            "required": ["recordId", "limit"],
            "properties": {
                "recordId": {"type": "string", "minLength": 1, "maxLength": 128},
                "limit": {"type": "integer", "minimum": 0},
            },
        },
        "connections": {"registry": "breg", "notices": "messaging"},
        "operations": {
            "read": {"operation": "breg.read-record/v1", "connection": "registry"},
            "send": {"operation": "messaging.submit-message/v1", "connection": "notices"},
        },
        "functionsFile": "functions.rhai",
        "deadlineSeconds": 86_400,
        "start": starts[0],
        "steps": found,
        "outcomes": {"done": {"type": "null"}},
    }


def _block(number: int, after: str) -> dict[str, Any]:
    # Two values, not one: YAML would write the second as an alias.
    judged, told = {"step": f"read-{number}"}, {"step": f"read-{number}"}
    return {
        f"read-{number}": _read(f"judge-{number}"),
        f"judge-{number}": {
            "title": f"Is record {number} over the limit?",
            "type": "choose",
            "choose": {"function": "verdict", "arguments": [judged, {"input": "/limit"}]},
            "cases": {"notify": f"tell-{number}", "skip": after},
        },
        f"tell-{number}": {
            "title": f"Tell the applicant of record {number}",
            "type": "call",
            "operation": "send",
            "input": {
                "function": "notice",
                "arguments": [told, {"context": "/runId"}, {"literal": number}],
            },
            "onDeclaredRefusal": {"recipient-suppressed": after},
            "next": after,
        },
    }


def _read(after: str) -> dict[str, Any]:
    return {
        "title": "Read the next record",
        "type": "call",
        "operation": "read",
        "input": {
            "object": {"collection": {"literal": "records"}, "recordId": {"input": "/recordId"}}
        },
        "next": after,
    }


def write_project(folder: Path, steps: int) -> Path:
    """Write the project to a folder that exists."""
    text = yaml.safe_dump(project(steps), sort_keys=False)
    (folder / "workflow.yaml").write_text(text, encoding="utf-8")
    (folder / "functions.rhai").write_text(FUNCTIONS, encoding="utf-8")
    return folder
