"""A definition told step by step, in the order in which a run can meet its nodes."""

from __future__ import annotations

from collections import deque
from typing import Any

from interpreter.definition.document import Definition, PackagedDefinition
from interpreter.definition.nodes import (
    AnyNode,
    CallNode,
    FinishNode,
    ForCompletion,
    ForDuration,
    WaitNode,
)


def explained_nodes(packaged: PackagedDefinition) -> list[dict[str, Any]]:
    """``{node, title, does, outlets}`` of every node that the start leads to."""
    definition = packaged.definition
    return [
        {
            "node": name,
            "title": packaged.labels.nodes.get(name, ""),
            "does": _deed(definition, definition.nodes[name]),
            "outlets": dict(definition.nodes[name].outlets),
        }
        for name in _met(definition)
    ]


def _met(definition: Definition) -> list[str]:
    order: list[str] = []
    ahead = deque([definition.start])
    while ahead:
        name = ahead.popleft()
        if name in order:
            continue
        order.append(name)
        ahead.extend(definition.nodes[name].outlets.values())
    return order


def _deed(definition: Definition, node: AnyNode) -> str:
    if isinstance(node, CallNode):
        operation = definition.operations[node.operation]
        return f"calls {operation.contract.id} on {operation.connection}"
    if isinstance(node, WaitNode):
        return _waiting(node)
    if isinstance(node, FinishNode):
        return f"finishes as {node.outcome}"
    return {"choose": "chooses", "map": "computes", "each": "fans out", "join": "gathers"}[
        node.kind
    ]


def _waiting(node: WaitNode) -> str:
    wait = node.wait
    if isinstance(wait, ForCompletion):
        return f"waits for {wait.completion} of {wait.call}, {wait.timeout_seconds} s at most"
    if isinstance(wait, ForDuration):
        return f"waits {wait.seconds} s"
    return {"instant": "waits until an instant", "signal": "waits for a signal"}.get(
        wait.type, "waits for an approval"
    )
