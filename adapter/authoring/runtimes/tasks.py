"""Which calls are done for a task, and which never are (contract 1.4)."""

from __future__ import annotations

from dataclasses import dataclass

from interpreter.definition.document import Definition
from interpreter.definition.nodes import CallNode

_AS_A_TASK = "scheduling.create-appointment/v1"
_NOT_AS_A_TASK = "breg.invoke-action/v1"


@dataclass(frozen=True, slots=True)
class Misfit:
    """What is wrong with a connection, as the end of a sentence that begins with its name."""

    message: str
    remedy: str


def task_misfit(definition: Definition, connection: str, *, for_tasks: bool) -> Misfit | None:
    """Why a workflow can not use a connection that is bound to tasks, or is not."""
    called = {
        operation.contract.id
        for node in definition.nodes.values()
        if isinstance(node, CallNode)
        for operation in (definition.operations[node.operation],)
        if operation.connection == connection
    }
    if _NOT_AS_A_TASK in called and for_tasks:
        return Misfit(
            "invokes actions, and these are not done for a task",
            "remove `taskAuthority`, or use another connection for them",
        )
    if _AS_A_TASK in called and not for_tasks:
        return Misfit(
            "makes appointments, which is done for a task",
            "add `taskAuthority` to its authorization",
        )
    return None
