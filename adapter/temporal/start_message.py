"""The start of a run as a payload: JSON under a mark of its own, which no data can imitate."""

from __future__ import annotations

import json
from typing import Any

from temporalio.api.common.v1 import Payload

from interpreter.contract.runs import Binding, StartRun

_MARK = "coordinator"
_START = b"start/v1"


def is_start(payload: Payload) -> bool:
    """True for a payload that ``start_payload`` made; data alone never makes one."""
    return payload.metadata.get(_MARK) == _START


def start_payload(start: StartRun, encoding: str) -> Payload:
    """The marked payload of a start, under the encoding of plain JSON."""
    data = json.dumps(_start_to_json(start), separators=(",", ":"), ensure_ascii=False)
    return Payload(metadata={"encoding": encoding.encode(), _MARK: _START}, data=data.encode())


def start_of(payload: Payload) -> StartRun:
    """The start inside a marked payload; KeyError, TypeError or ValueError for anything else.

    Workflow and run id stand in the workflow id alone (``StartRun.as_execution``).
    """
    value = json.loads(payload.data)
    binding = value.get("binding", {})
    return StartRun(
        run_id="",
        workflow="",
        version=value["version"],
        revision=value["revision"],
        input=value["input"],
        admitted_at=value["admittedAt"],
        deadline_at=value["deadlineAt"],
        binding=Binding(
            binding.get("dispatch", {}),
            binding.get("taskQueues", {}),
            binding.get("plainSignals", True),
        ),
        state=value.get("state"),
        execution=value.get("execution", 1),
    )


def _start_to_json(start: StartRun) -> dict[str, Any]:
    binding: dict[str, Any] = {
        key: value
        for key, value in (
            ("dispatch", start.binding.dispatch),
            ("taskQueues", start.binding.task_queues),
        )
        if value
    }
    if not start.binding.plain_signals:
        binding["plainSignals"] = False
    result: dict[str, Any] = {
        "version": start.version,
        "revision": start.revision,
        "admittedAt": start.admitted_at,
        "deadlineAt": start.deadline_at,
        "input": start.input,
    }
    if binding:
        result["binding"] = binding
    if start.execution != 1:
        result["execution"] = start.execution
    if start.state is not None:
        result["state"] = start.state
    return result
