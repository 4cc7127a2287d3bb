"""A definition as an SVG: steps in layers by their distance from the start, edges as curves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

from interpreter.definition.document import Definition

_LETTER, _LINE, _HEIGHT, _GAP_X, _GAP_Y, _MARGIN = 7, 16, 44, 40, 64, 24
_LONGEST_CAPTION = 36
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
    definition: Definition, captions: dict[str, str], edge_label: Callable[[str, str], str]
) -> str:
    """The SVG document; it needs no script, font or file from elsewhere."""
    words = {name: _short(text) for name, text in captions.items()}
    boxes = _place(_ordered(_layers(definition), definition), words)
    width = max(box.x + box.width for box in boxes.values()) + _MARGIN
    height = max(box.y for box in boxes.values()) + _HEIGHT + _MARGIN
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{escape(definition.id)}</title>",
        f"<style>{_STYLE}</style>",
        _ARROW,
        '<rect width="100%" height="100%" fill="#fff"/>',
        *_edges(definition, boxes, edge_label),
        *(_box(name, definition.nodes[name].kind, words[name], box) for name, box in boxes.items()),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_CAPTION else text[: _LONGEST_CAPTION - 1] + "…"


def _layers(definition: Definition) -> list[list[str]]:
    """Each step one layer below the last of those that lead to it; what is left goes last."""
    leading = dict.fromkeys(definition.nodes, 0)
    for node in definition.nodes.values():
        for target in node.outlets.values():
            leading[target] += 1
    depth = {name: 0 for name, count in leading.items() if count == 0}
    waiting = sorted(depth)
    while waiting:
        name = waiting.pop()
        for target in definition.nodes[name].outlets.values():
            depth[target] = max(depth.get(target, 0), depth[name] + 1)
            leading[target] -= 1
            if leading[target] == 0:
                waiting.append(target)
    layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=0) + 2)]
    for name in sorted(definition.nodes):
        layers[depth.get(name, len(layers) - 1)].append(name)
    return [layer for layer in layers if layer]


def _ordered(layers: list[list[str]], definition: Definition) -> list[list[str]]:
    """Each layer sorted by where the steps that lead to it stand, so that few edges cross."""
    place: dict[str, float] = {}
    leading: dict[str, list[str]] = {name: [] for name in definition.nodes}
    for name, node in definition.nodes.items():
        for target in node.outlets.values():
            leading[target].append(name)
    ordered = []
    for layer in layers:
        wanted = {
            name: [place[one] for one in leading[name] if one in place] or [0.0] for name in layer
        }
        layer = sorted(layer, key=lambda name: (sum(wanted[name]) / len(wanted[name]), name))
        for index, name in enumerate(layer):
            place[name] = (index + 0.5) / len(layer)
        ordered.append(layer)
    return ordered


def _place(layers: list[list[str]], words: dict[str, str]) -> dict[str, _Box]:
    widths = {name: max(96, len(text) * _LETTER + 28) for name, text in words.items()}
    totals = [sum(widths[name] + _GAP_X for name in layer) - _GAP_X for layer in layers]
    widest = max(totals)
    boxes = {}
    for row, (layer, total) in enumerate(zip(layers, totals, strict=True)):
        x = _MARGIN + (widest - total) / 2
        for name in layer:
            boxes[name] = _Box(x, _MARGIN + row * (_HEIGHT + _GAP_Y), widths[name])
            x += widths[name] + _GAP_X
    return boxes


def _box(name: str, kind: str, words: str, box: _Box) -> str:
    radius = 22 if kind == "finish" else 6
    return (
        f'<g><title>{escape(name)}</title><rect class="{kind}" x="{box.x:.1f}" y="{box.y:.1f}" '
        f'width="{box.width:.1f}" height="{_HEIGHT}" rx="{radius}"/>'
        f'<text x="{box.middle:.1f}" y="{box.y + _HEIGHT / 2 + 5:.1f}">{escape(words)}</text></g>'
    )


def _edges(
    definition: Definition, boxes: dict[str, _Box], edge_label: Callable[[str, str], str]
) -> Iterator[str]:
    for name in sorted(definition.nodes):
        node = definition.nodes[name]
        for index, (outlet, target) in enumerate(node.outlets.items()):
            share = (index + 1) / (len(node.outlets) + 1)
            label = edge_label(node.kind, outlet)
            yield from _edge(boxes[name], boxes[target], share, label)


def _edge(source: _Box, target: _Box, share: float, label: str) -> Iterator[str]:
    x1, y1 = source.x + source.width * share, source.y + _HEIGHT
    x2, y2 = target.middle, target.y - 2
    bend = max(30.0, (y2 - y1) / 2)
    yield (
        f'<path class="edge" marker-end="url(#tip)" d="M{x1:.1f} {y1:.1f}C{x1:.1f} {y1 + bend:.1f} '
        f'{x2:.1f} {y2 - bend:.1f} {x2:.1f} {y2:.1f}"/>'
    )
    if label:
        # A third of the way down, where edges from one step have already parted.
        x, y = x1 + (x2 - x1) * 0.3, y1 + _LINE + 8
        yield f'<text class="label" x="{x:.1f}" y="{y:.1f}">{escape(label)}</text>'
