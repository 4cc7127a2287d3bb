"""The start of a run as it is handed to Temporal."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from interpreter.contract.values import JsonValue

_ORDINAL = re.compile(r"[1-9][0-9]{0,8}")


@dataclass(frozen=True, slots=True)
class Binding:
    """What shapes a workflow's commands and is not in the definition; frozen at admission.

    ``dispatch`` holds connection -> ``local`` or ``remote`` where it differs from the rule (reads
    local first, effects remote); ``task_queues`` connection -> task queue where it has its own;
    ``plain_signals`` whether a signal that Temporal's own tools send in clear text is taken.
    """

    dispatch: dict[str, str] = field(default_factory=dict)
    task_queues: dict[str, str] = field(default_factory=dict)
    plain_signals: bool = True


@dataclass(frozen=True, slots=True)
class StartRun:
    """The start input of an execution; instants are RFC 3339 in UTC with milliseconds.

    ``definition`` is a reference by revision, never a body (design section 7).
    """

    run_id: str
    workflow: str
    version: str
    revision: str
    input: JsonValue
    admitted_at: str
    deadline_at: str
    execution: int = 1
    binding: Binding = field(default_factory=Binding)
    state: JsonValue = None

    def as_execution(self, temporal_workflow_id: str) -> StartRun:
        """The same start under the identity that its Temporal workflow id spells.

        The input that Temporal keeps repeats the ordinal alone, so that a copy of it starts no
        other execution of its run. ValueError for an id that is not one of ours, or not this one.
        """
        workflow, run_id, execution = _parts(temporal_workflow_id)
        if int(execution) != self.execution:
            raise ValueError("the input of another execution")
        return replace(self, workflow=workflow, run_id=run_id)


def workflow_id(workflow: str, run_id: str, execution: int) -> str:
    """``<workflow>/<run>/<execution>``, the Temporal workflow id (protocol rule 4)."""
    return f"{workflow}/{run_id}/{execution}"


def run_id_of(temporal_workflow_id: str) -> str:
    """The run id inside a Temporal workflow id; ValueError if it is not one of ours."""
    return _parts(temporal_workflow_id)[1]


def execution_of(temporal_workflow_id: str) -> int:
    """The execution ordinal inside a Temporal workflow id; ValueError if it is not one of ours."""
    return int(_parts(temporal_workflow_id)[2])


def root_of_run(temporal_workflow_id: str) -> str:
    """What all executions of a run have in common; ValueError if it is not one of our ids."""
    return "/".join(_parts(temporal_workflow_id)[:2])


def _parts(temporal_workflow_id: str) -> tuple[str, str, str]:
    parts = temporal_workflow_id.split("/")
    # One spelling for each execution: what a number may be written like makes no second one.
    if len(parts) != 3 or _ORDINAL.fullmatch(parts[2]) is None:
        raise ValueError("not a workflow id of this project")
    return parts[0], parts[1], parts[2]
