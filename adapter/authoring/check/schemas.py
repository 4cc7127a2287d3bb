"""Whether the schemas of a project can be used as schemas."""

from __future__ import annotations

from collections.abc import Iterator

from activities.catalogue.references import SchemaFault
from activities.catalogue.schemas import schema_faults
from activities.yaml.sources import pointer_parts
from activities.yaml.tree import Tree, find
from adapter.authoring.compile.annotations import execution_form
from adapter.authoring.diagnostics.diagnostic import Report
from adapter.authoring.draft import Draft
from interpreter import language
from interpreter.contract.values import JsonValue
from interpreter.definition import nodes as n

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def check_schemas(draft: Draft, tree: Tree, report: Report) -> None:
    """Report unusable schemas at the keyword; each is replaced by one that says nothing.

    ``tree`` is the authored file, in which the place inside a schema is looked up.
    """
    for at, schema in list(_schemas(draft)):
        spot = draft.origins.find(at)
        faults = schema_faults(schema) or _draft_faults(schema)
        for fault in faults:
            pointer = spot.pointer + fault.pointer
            place = find(tree, pointer_parts(pointer))
            message = f"this is no usable schema: {fault.message}"
            report.add("coordinator.definition.schema", place, message, fault.remedy)
        if faults:
            _forget(draft, at)
            continue
        try:
            language.check_bounds(execution_form(schema))
        except language.ValueLimit as error:
            message = f"the schema is too large: {error.message}"
            report.add("coordinator.function.value-limit", spot, message)


def _draft_faults(schema: JsonValue) -> list[SchemaFault]:
    named = schema.get("$schema", _DRAFT) if isinstance(schema, dict) else _DRAFT
    if named == _DRAFT:
        return []
    remedy = f"remove `$schema`, or name {_DRAFT}"
    return [SchemaFault("/$schema", "it is written for another draft", remedy)]


def _schemas(draft: Draft) -> Iterator[tuple[str, JsonValue]]:
    yield "/inputSchema", draft.input_schema
    for name, schema in draft.outcomes.items():
        yield f"/outcomes/{name}", schema
    for name, trigger in draft.triggers.items():
        yield f"/triggers/{name}/schema", trigger.event_schema
    for name, node in draft.nodes.items():
        if isinstance(node, n.WaitNode) and isinstance(node.wait, n.ForSignal):
            yield f"/nodes/{name}/wait/schema", node.wait.signal_schema


def _forget(draft: Draft, at: str) -> None:
    _, kind, *rest = at.split("/")
    if kind == "inputSchema":
        draft.input_schema = True
    elif kind == "outcomes":
        draft.outcomes[rest[0]] = True
    elif kind == "triggers":
        trigger = draft.triggers[rest[0]]
        draft.triggers[rest[0]] = trigger.model_copy(update={"event_schema": True})
    else:
        node = draft.nodes[rest[0]]
        assert isinstance(node, n.WaitNode)
        wait = node.wait.model_copy(update={"signal_schema": True})
        draft.nodes[rest[0]] = node.model_copy(update={"wait": wait})
