"""A definition as a graph in the languages of Mermaid and Graphviz."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias, assert_never

from adapter.authoring.views.drawing import draw
from interpreter.definition import nodes as n
from interpreter.definition.document import PackagedDefinition

PictureFormat: TypeAlias = Literal["mermaid", "dot", "svg"]

_PLAIN_OUTLETS = frozenset({"next", "elapsed", "completed", "resumed", "approved"})
_DOT_SHAPES = {"choose": "diamond", "wait": "hexagon", "finish": "doubleoctagon"}


def graph(packaged: PackagedDefinition, format: PictureFormat = "mermaid") -> str:
    """The picture of a definition; an edge is labelled unless it is the ordinary way on."""
    match format:
        case "mermaid":
            return "\n".join(_mermaid(packaged)) + "\n"
        case "dot":
            return "\n".join(_dot(packaged)) + "\n"
        case "svg":
            return draw(packaged.definition, captions(packaged), edge_label)
    assert_never(format)


def captions(packaged: PackagedDefinition) -> dict[str, str]:
    """Step -> the words in its box: its title, or its name."""
    titles = packaged.labels.nodes
    return {name: titles.get(name, "") or name for name in packaged.definition.nodes}


def edge_label(kind: str, outlet: str) -> str:
    """What is written on an edge that leaves a node of this kind."""
    if kind != "choose" and outlet in _PLAIN_OUTLETS:
        return ""
    return outlet.removeprefix(n.REFUSAL_OUTLET)


def _mermaid(packaged: PackagedDefinition) -> Iterator[str]:
    nodes = packaged.definition.nodes
    numbers = {name: f"s{index}" for index, name in enumerate(sorted(nodes))}
    words = captions(packaged)
    yield "flowchart TD"
    for name in sorted(nodes):
        opening, closing = _mermaid_shape(nodes[name].kind)
        yield f'    {numbers[name]}{opening}"{_mermaid_text(words[name])}"{closing}'
    for name in sorted(nodes):
        for outlet, target in nodes[name].outlets.items():
            label = edge_label(nodes[name].kind, outlet)
            between = f'-- "{_mermaid_text(label)}" -->' if label else "-->"
            yield f"    {numbers[name]} {between} {numbers[target]}"


def _mermaid_shape(kind: str) -> tuple[str, str]:
    shapes = {"choose": ("{", "}"), "wait": ("{{", "}}"), "finish": ("([", "])")}
    return shapes.get(kind, ("[", "]"))


def _mermaid_text(text: str) -> str:
    """Text that Mermaid shows as it is: everything with a meaning becomes an entity."""
    return "".join(one if one.isalnum() or one in " .,:/-_" else f"#{ord(one)};" for one in text)


def _dot(packaged: PackagedDefinition) -> Iterator[str]:
    nodes = packaged.definition.nodes
    words = captions(packaged)
    yield f"digraph {_quoted(packaged.definition.id)} {{"
    yield "    node [shape=box, style=rounded];"
    for name in sorted(nodes):
        shape = _DOT_SHAPES.get(nodes[name].kind, "box")
        yield f"    {_quoted(name)} [label={_quoted(words[name])}, shape={shape}];"
    for name in sorted(nodes):
        for outlet, target in nodes[name].outlets.items():
            label = edge_label(nodes[name].kind, outlet)
            tail = f" [label={_quoted(label)}]" if label else ""
            yield f"    {_quoted(name)} -> {_quoted(target)}{tail};"
    yield "}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
