"""A draft without errors becomes the definition that the machine reads."""

from __future__ import annotations

from activities.catalogue.catalogue import Catalogue
from adapter.authoring.compile.annotations import execution_form
from adapter.authoring.draft import Draft
from interpreter.contract.operations import Completion, OperationContract
from interpreter.definition import nodes as n
from interpreter.definition.document import (
    Definition,
    Functions,
    Labels,
    Operation,
    PackagedDefinition,
    Trigger,
)
from interpreter.language import LANGUAGE_PROFILE


def lower(draft: Draft, catalogue: Catalogue) -> PackagedDefinition:
    """The packaged definition; DefinitionError ``definition.too-large`` above its limit."""
    operations = _operations(draft, catalogue)
    used = {one.connection for one in operations.values()}
    definition = Definition(
        id=draft.id,
        input_schema=execution_form(draft.input_schema),
        outcomes={name: execution_form(schema) for name, schema in draft.outcomes.items()},
        deadline_seconds=draft.deadline_seconds,
        functions=_functions(draft),
        connections={name: draft.connections[name] for name in sorted(used)},
        operations=operations,
        triggers={name: _trigger(one) for name, one in draft.triggers.items()},
        start=draft.start,
        nodes={name: _node(node) for name, node in draft.nodes.items()},
    )
    definition.to_bytes()
    labels = Labels(
        title=draft.title,
        description=draft.description,
        version=draft.version,
        nodes=draft.titles,
    )
    return PackagedDefinition(definition=definition, labels=labels)


def _functions(draft: Draft) -> Functions | None:
    if draft.functions_source is None:
        return None
    return Functions(profile=LANGUAGE_PROFILE, source=draft.functions_source)


def _trigger(trigger: Trigger) -> Trigger:
    return trigger.model_copy(update={"event_schema": execution_form(trigger.event_schema)})


def _node(node: n.AnyNode) -> n.AnyNode:
    if isinstance(node, n.WaitNode) and isinstance(node.wait, n.ForSignal):
        schema = execution_form(node.wait.signal_schema)
        return node.model_copy(
            update={"wait": node.wait.model_copy(update={"signal_schema": schema})}
        )
    return node


def _operations(draft: Draft, catalogue: Catalogue) -> dict[str, Operation]:
    """The operations that are called, and those that read their completions.

    A completion is read on the connection of its call, so that the reader is admitted where the
    request was made.
    """
    called = {node.operation for node in draft.nodes.values() if isinstance(node, n.CallNode)}
    operations = {
        alias: Operation(connection=one.connection, contract=_pinned(one.contract))
        for alias, one in draft.operations.items()
        if alias in called
    }
    for call, completion in _awaited(draft):
        bound = {(one.connection, one.contract.id) for one in operations.values()}
        if (call.connection, completion.read) in bound:
            continue
        alias = completion.read
        if alias in operations:
            alias = f"{completion.read}@{call.connection}"
        contract = _pinned(catalogue.find(completion.read).contract)
        operations[alias] = Operation(connection=call.connection, contract=contract)
    return operations


def _awaited(draft: Draft) -> list[tuple[Operation, Completion]]:
    found = []
    for name in sorted(draft.nodes):
        node = draft.nodes[name]
        if isinstance(node, n.WaitNode) and isinstance(node.wait, n.ForCompletion):
            call = draft.nodes[node.wait.call]
            if isinstance(call, n.CallNode):
                operation = draft.operations[call.operation]
                completion = operation.contract.completions[node.wait.completion]
                found.append((operation, completion))
    return found


def _pinned(contract: OperationContract) -> OperationContract:
    completions = {
        name: one.model_copy(update={"value_schema": execution_form(one.value_schema)})
        for name, one in contract.completions.items()
    }
    return contract.model_copy(
        update={
            "title": "",
            "completions": completions,
            "request": execution_form(contract.request),
            "response": execution_form(contract.response),
        }
    )
