"""Projects with something wrong in them, and what must hold of every result."""

from __future__ import annotations

import random
import string
from typing import Any

from hypothesis import strategies as st

from activities.yaml.reader import read_yaml
from adapter.authoring import (
    CODES,
    ProjectResult,
    render_github,
    render_json,
    render_sarif,
    render_text,
)
from adapter.authoring.diagnostics import Report
from tests.house.places import ROOT

EXAMPLE = ROOT / "examples" / "reviewed-notice"
WORKFLOW = (EXAMPLE / "workflow.yaml").read_text()
FUNCTIONS = (EXAMPLE / "functions.rhai").read_text()

KEYS = ("input", "step", "path", "literal", "object", "list", "function", "first", "type", "next")
WORDS = ("application", "review", "result", "call", "choose", "approved", "", "/", "~", "${X}")


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(WORDS)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)
"""JSON values in which words of the formats turn up."""


def sound(result: ProjectResult) -> None:
    """Check that a result keeps every promise about findings, and render it every way."""
    assert (result.definition is None) == bool(result.errors)
    for one in result.diagnostics:
        assert one.code in CODES
        assert one.message
        assert one.remedy
        source = result.sources.files.get(one.spot.file)
        assert one.spot.line >= 1
        assert one.spot.column >= 1
        if source is not None:
            assert one.spot.line <= len(source.lines) + 1
    render_text(result.diagnostics, result.sources)
    render_json(result.diagnostics)
    render_github(result.diagnostics)
    render_sarif(result.diagnostics)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place inside a JSON value."""
    found = [path] if path else []
    items: Any = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    for key, inner in items:
        found += places(inner, (*path, key))
    return found


def mutated(document: Any, chance: random.Random, value: Any) -> Any:
    """The document with one place deleted, replaced, renamed, doubled or moved."""
    path = chance.choice(places(document))
    place = document
    for key in path[:-1]:
        place = place[key]
    kind = chance.randrange(5)
    if kind == 0:
        del place[path[-1]]
    elif kind == 1:
        place[path[-1]] = value
    elif kind == 2 and isinstance(place, dict):
        place[chance.choice(KEYS)] = place.pop(path[-1])
    elif kind == 3 and isinstance(place, dict):
        place[chance.choice(string.ascii_letters)] = place[path[-1]]
    else:
        other = document
        for key in chance.choice(places(document)):
            other = other[key]
        place[path[-1]] = _copy(other)
    return document


def _copy(value: Any, depth: int = 0) -> Any:
    """A copy that ends where a moved part would contain itself."""
    if depth > 20:
        return None
    if isinstance(value, dict):
        return {key: _copy(inner, depth + 1) for key, inner in value.items()}
    return [_copy(inner, depth + 1) for inner in value] if isinstance(value, list) else value


def example() -> Any:
    """The example's workflow.yaml as a value."""
    tree, _ = read_yaml(WORKFLOW.encode(), "workflow.yaml", Report())
    assert tree is not None
    return tree.to_json()
