"""What a project's mappings and functions can name: guessed from the text, and rather too much.

Two simulated products have to declare before a call what it may hold: the registry the fields of
an action, an external connection its paths. What is declared and not used does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from interpreter.contract.operations import OperationId
from interpreter.contract.values import JsonValue
from interpreter.definition import mappings as m
from interpreter.definition.document import Definition
from interpreter.definition.nodes import CallNode

MOST_NAMES = 512
_KEY = re.compile(r"""([A-Za-z_][A-Za-z0-9_]*|"[^"\\\n]*")\s*:(?!:)""")
_TEXT = re.compile(r'"([^"\\\n]*)"|`([^`$\n]*)`')


def calls_of(definition: Definition, operation: OperationId) -> dict[str, CallNode]:
    """The steps that call an operation, by name."""
    return {
        name: node
        for name, node in definition.nodes.items()
        if isinstance(node, CallNode)
        and definition.operations[node.operation].contract.id == operation
    }


def texts_at(definition: Definition, mapping: m.Mapping, member: str) -> list[str]:
    """The texts that a member of a mapped object can have, as far as they are written down.

    A member that a function makes may be any text of the functions' source.
    """
    if isinstance(mapping, m.ObjectOf):
        inner = mapping.object.get(member)
        if isinstance(inner, m.LiteralValue):
            return [inner.literal] if isinstance(inner.literal, str) else []
        return [] if inner is None else function_texts(definition)
    if isinstance(mapping, m.LiteralValue) and isinstance(mapping.literal, dict):
        found = mapping.literal.get(member)
        return [found] if isinstance(found, str) else []
    return function_texts(definition)


def names_at(definition: Definition, mapping: m.Mapping, member: str) -> list[str]:
    """The member names that the object at ``member`` of a mapped object can have."""
    match mapping:
        case m.ObjectOf():
            inner = mapping.object.get(member)
            if isinstance(inner, m.ObjectOf):
                return list(inner.object)
            if isinstance(inner, m.LiteralValue):
                return list(inner.literal) if isinstance(inner.literal, dict) else []
            return [] if inner is None else every_name(definition)
        case m.LiteralValue(literal=dict() as literal):
            return list(literal.get(member) or ())
        case _:
            return every_name(definition)


def function_texts(definition: Definition) -> list[str]:
    """Every text that the functions write, in their order."""
    source = "" if definition.functions is None else definition.functions.source
    found = (match[1] if match[1] is not None else match[2] for match in _TEXT.finditer(source))
    return list(dict.fromkeys(text for text in found if text))


def every_name(definition: Definition) -> list[str]:
    """Every member name in the functions and in the schemas of input and responses."""
    source = "" if definition.functions is None else definition.functions.source
    names = dict.fromkeys(match[1].strip('"') for match in _KEY.finditer(source))
    schemas = [definition.input_schema]
    schemas += [one.contract.response for one in definition.operations.values()]
    for schema in schemas:
        names |= dict.fromkeys(_declared(schema))
    return [name for name in names if name][:MOST_NAMES]


def _declared(schema: JsonValue) -> Iterator[str]:
    if isinstance(schema, list):
        for one in schema:
            yield from _declared(one)
    elif isinstance(schema, dict):
        properties = schema.get("properties")
        yield from properties if isinstance(properties, dict) else ()
        for value in schema.values():
            yield from _declared(value)
