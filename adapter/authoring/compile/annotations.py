"""Schemas without the words that are for people only."""

from __future__ import annotations

from interpreter.contract.values import JsonValue

_FOR_PEOPLE = frozenset(
    {"title", "description", "$comment", "examples", "deprecated", "readOnly", "writeOnly"}
)
_ONE = frozenset(
    {
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_LISTED = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
_LARGEST_EXACT = 2**53 - 1


def execution_form(schema: JsonValue) -> JsonValue:
    """The schema as it changes execution: titles and descriptions do not enter a revision.

    Integers beyond 2^53 become the nearest float, which is how RFC 8785 reads them.
    """
    if isinstance(schema, int) and not isinstance(schema, bool) and abs(schema) > _LARGEST_EXACT:
        return float(schema)
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, JsonValue] = {}
    for keyword, value in schema.items():
        if keyword in _FOR_PEOPLE:
            continue
        if keyword in _NAMED and isinstance(value, dict):
            kept[keyword] = {name: execution_form(inner) for name, inner in value.items()}
        elif keyword in _LISTED and isinstance(value, list):
            kept[keyword] = [execution_form(inner) for inner in value]
        elif keyword in _ONE or isinstance(value, int):
            kept[keyword] = execution_form(value)
        else:
            kept[keyword] = value
    return kept
