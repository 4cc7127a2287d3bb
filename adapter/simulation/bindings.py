"""The connections of a runtime file that lead every operation of a project to its simulation."""

from __future__ import annotations

from typing import Any

from adapter.simulation.source import calls_of, names_at, texts_at
from interpreter.definition.document import Definition

PREFIX = "/simulated"
PROFILE = "simulated"
MODEL = "simulated"
PROTOCOL = "system-one"
_MOST_PATHS = 16
# A project may be one whose calls are done for tasks, and there is nobody here to assert a grant.
_TAKES_GRANTS = {"type": "none", "grants": "ignored"}
_PATH = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/")


def connection_documents(definition: Definition, origin: str) -> dict[str, dict[str, Any]]:
    """Connection name -> its document, for exactly the connections of the definition."""
    return {
        name: {"product": product, "baseUrl": f"{origin}{PREFIX}/{name}"}
        | _settings(definition, name, product)
        for name, product in sorted(definition.connections.items())
    }


def _settings(definition: Definition, connection: str, product: str) -> dict[str, Any]:
    if product == "breg":
        return {"profile": PROFILE, "authorization": dict(_TAKES_GRANTS)}
    if product == "scheduling":
        return {"authorization": dict(_TAKES_GRANTS)}
    if product == "evaluation":
        return {"protocol": PROTOCOL, "model": MODEL}
    if product == "external":
        return _external(definition, connection)
    return {}


def _external(definition: Definition, connection: str) -> dict[str, Any]:
    paths: dict[str, None] = {}
    parameters: dict[str, None] = {}
    for node in calls_of(definition, "external.get/v1").values():
        if definition.operations[node.operation].connection != connection:
            continue
        paths |= dict.fromkeys(texts_at(definition, node.input, "path"))
        parameters |= dict.fromkeys(names_at(definition, node.input, "query"))
    # Of the texts in functions, those with a slash are the likelier paths.
    usable = sorted(filter(_is_path, paths), key=lambda path: "/" not in path)
    settings: dict[str, Any] = {
        "paths": usable[:_MOST_PATHS] or ["simulated"],
        "responseSchema": {"type": "object"},
    }
    named = list(parameters)
    return settings | ({"queryParameters": named[:_MOST_PATHS]} if named else {})


def _is_path(text: str) -> bool:
    parts = text.split("/")
    return len(text) <= 512 and set(text) <= _PATH and not {"", ".", ".."} & set(parts)
