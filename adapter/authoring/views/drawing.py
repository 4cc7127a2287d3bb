"""A definition as an SVG that needs no script, font or file from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

from adapter.authoring.views.layers import Edge, Layers, arrange
from interpreter.definition.document import Definition

_LETTER, _LABEL_LETTER, _LINE = 7, 6, 13
_HEIGHT, _GAP_X, _GAP_Y, _MARGIN, _BEND = 44, 36, 40, 24, 12
_LONGEST_CAPTION = 40
_STYLE = (
    "text{font:13px system-ui,sans-serif;text-anchor:middle;fill:#1b2430}"
    ".edge{fill:none;stroke:#5b6b7d;stroke-width:1.4}"
    ".label{font-size:11px;fill:#3d4b5a;paint-order:stroke;stroke:#fff;stroke-width:4px}"
    ".call{fill:#e7f0fb;stroke:#2f6fb3}.choose{fill:#fff4dc;stroke:#b7791f}"
    ".wait{fill:#f1eafb;stroke:#6b46a3}.finish{fill:#e6f5ea;stroke:#2f855a}"
    ".map,.each,.join{fill:#eef1f4;stroke:#5b6b7d}"
)
_ARROW = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
    'markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#5b6b7d"/></marker></defs>'
)


@dataclass(frozen=True, slots=True)
class _Box:
    x: float
    y: float
    width: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


def draw(
    definition: Definition,
    captions: dict[str, str],
    edge_label: Callable[[str, str], str],
) -> str:
    """The SVG document of a definition; ``edge_label`` takes a node's kind and an outlet."""
    words = {name: _short(text) for name, text in captions.items()}
    layers = arrange(definition, _labels(definition, edge_label))
    boxes = _place(layers, words)
    width = max(box.x + box.width for box in boxes.values()) + _MARGIN
    height = max(box.y for box in boxes.values()) + _HEIGHT + _MARGIN
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{escape(definition.id)}</title>",
        f"<style>{_STYLE}</style>",
        _ARROW,
        '<rect width="100%" height="100%" fill="#fff"/>',
        *_edges(layers, boxes),
        *(
            _box(name, definition.nodes[name].kind, words[name], boxes[name])
            for name in sorted(definition.nodes)
        ),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_CAPTION else text[: _LONGEST_CAPTION - 1] + "…"


def _labels(
    definition: Definition, edge_label: Callable[[str, str], str]
) -> dict[tuple[str, str], tuple[str, ...]]:
    """(from, to) -> what is written on the one line that stands for all ways between them."""
    labels: dict[tuple[str, str], tuple[str, ...]] = {}
    for name, node in sorted(definition.nodes.items()):
        for outlet, target in node.outlets.items():
            word = edge_label(node.kind, outlet)
            before = labels.get((name, target), ())
            labels[name, target] = (*before, word) if word else before
    return labels


def _place(layers: Layers, words: dict[str, str]) -> dict[str, _Box]:
    room = {name: _label_room(layers, name) for row in layers.rows for name in row}
    widths = {
        name: max(96, len(words[name]) * _LETTER + 28) if name in words else _BEND
        for row in layers.rows
        for name in row
    }
    slots = {name: max(widths[name], room[name]) + _GAP_X for name in widths}
    widest = max(sum(slots[name] for name in row) for row in layers.rows)
    boxes = {}
    y = float(_MARGIN)
    for row in layers.rows:
        x = _MARGIN + (widest - sum(slots[name] for name in row)) / 2
        for name in row:
            boxes[name] = _Box(x + (slots[name] - widths[name]) / 2, y, widths[name])
            x += slots[name]
        lines = max((len(edge.labels) for edge in layers.edges if edge.path[0] in row), default=0)
        y += _HEIGHT + _GAP_Y + lines * _LINE
    return boxes


def _label_room(layers: Layers, name: str) -> float:
    """The width that the labels of edges arriving here (or bending first here) need."""
    arriving = [edge for edge in layers.edges if edge.path[1] == name]
    longest = [max(map(len, edge.labels), default=0) * _LABEL_LETTER for edge in arriving]
    return max(longest, default=0) if len(longest) < 2 else sum(longest) / 2


def _box(name: str, kind: str, words: str, box: _Box) -> str:
    radius = 22 if kind == "finish" else 6
    return (
        f'<g><title>{escape(name)}</title><rect class="{kind}" x="{box.x:.1f}" y="{box.y:.1f}" '
        f'width="{box.width:.1f}" height="{_HEIGHT}" rx="{radius}"/>'
        f'<text x="{box.middle:.1f}" y="{box.y + _HEIGHT / 2 + 5:.1f}">{escape(words)}</text></g>'
    )


def _edges(layers: Layers, boxes: dict[str, _Box]) -> Iterator[str]:
    for row in layers.rows:
        for name in row:
            leaving = [edge for edge in layers.edges if edge.path[0] == name]
            leaving.sort(key=lambda edge: boxes[edge.path[1]].middle)
            for index, edge in enumerate(leaving):
                yield from _edge(edge, boxes, (index + 1) / (len(leaving) + 1))


def _edge(edge: Edge, boxes: dict[str, _Box], share: float) -> Iterator[str]:
    source = boxes[edge.path[0]]
    x, y = source.x + source.width * share, source.y + _HEIGHT
    drawn = [f"M{x:.1f} {y:.1f}"]
    for name in edge.path[1:-1]:
        drawn.append(_curve(x, y, boxes[name].middle, boxes[name].y))
        x, y = boxes[name].middle, boxes[name].y + _HEIGHT
        drawn.append(f"L{x:.1f} {y:.1f}")
    target = boxes[edge.path[-1]]
    drawn.append(_curve(x, y, target.middle, target.y - 2))
    yield f'<path class="edge" marker-end="url(#tip)" d="{"".join(drawn)}"/>'
    yield from _label(edge, source.x + source.width * share, source.y + _HEIGHT, boxes)


def _label(edge: Edge, x: float, y: float, boxes: dict[str, _Box]) -> Iterator[str]:
    """The labels on the first part of an edge, at 0.6 of the curve, where edges have parted."""
    first = boxes[edge.path[1]]
    x += (first.middle - x) * 0.65
    y += (first.y - y) * 0.58 + 4
    for line, label in enumerate(edge.labels):
        above = (len(edge.labels) - 1 - line) * _LINE
        yield f'<text class="label" x="{x:.1f}" y="{y - above:.1f}">{escape(label)}</text>'


def _curve(x1: float, y1: float, x2: float, y2: float) -> str:
    bend = (y2 - y1) / 2
    return f"C{x1:.1f} {y1 + bend:.1f} {x2:.1f} {y2 - bend:.1f} {x2:.1f} {y2:.1f}"
