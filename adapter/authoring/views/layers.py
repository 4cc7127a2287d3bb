"""Where the steps of a definition stand in a picture: in layers, with room for long edges."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from interpreter.definition.document import Definition

_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Edge:
    """All ways from one step to another: their labels, and what lies between in each layer.

    ``path`` begins with the step that is left and ends with the one that is reached; the names
    in between are bends, one in every layer that the edge passes.
    """

    path: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layers:
    """Steps and bends from top to bottom, each layer from left to right, and the edges."""

    rows: tuple[tuple[str, ...], ...]
    edges: tuple[Edge, ...]


@dataclass(slots=True)
class _Arranging:
    rows: list[list[str]]
    edges: list[Edge] = field(default_factory=list)


def arrange(definition: Definition, labels: dict[tuple[str, str], tuple[str, ...]]) -> Layers:
    """Lay a definition out; ``labels`` holds (from, to) -> what is written on that edge."""
    depth = _depths(definition)
    arranging = _Arranging([[] for _ in range(max(depth.values()) + 1)])
    for name in sorted(depth):
        arranging.rows[depth[name]].append(name)
    for (source, target), words in sorted(labels.items()):
        _add_edge(arranging, depth, source, target, words)
    rows = _untangled(arranging)
    return Layers(tuple(tuple(row) for row in rows), tuple(arranging.edges))


def _depths(definition: Definition) -> dict[str, int]:
    """Each step one layer below the last of those that lead to it; steps of a circle at last."""
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
    last = max(depth.values(), default=0) + 1
    return {name: depth.get(name, last) for name in definition.nodes}


def _add_edge(
    arranging: _Arranging,
    depth: dict[str, int],
    source: str,
    target: str,
    words: tuple[str, ...],
) -> None:
    path = [source]
    for row in range(depth[source] + 1, depth[target]):
        # A name of a step holds no blank, so a bend never has a step's name.
        bend = f"{source} {target} {row}"
        arranging.rows[row].append(bend)
        path.append(bend)
    arranging.edges.append(Edge((*path, target), words))


def _untangled(arranging: _Arranging) -> list[list[str]]:
    """The rows sorted by the middle of their neighbours, down and up in turns."""
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for edge in arranging.edges:
        for one, other in pairwise(edge.path):
            below.setdefault(one, []).append(other)
            above.setdefault(other, []).append(one)
    rows = arranging.rows
    best, fewest = rows, _crossings(rows, below)
    for turn in range(_ROUNDS):
        rows = _swept(rows, above, below, down=turn % 2 == 0)
        crossings = _crossings(rows, below)
        if crossings < fewest:
            best, fewest = rows, crossings
    return best


def _swept(
    rows: list[list[str]], above: dict[str, list[str]], below: dict[str, list[str]], *, down: bool
) -> list[list[str]]:
    place = {name: index / len(row) for row in rows for index, name in enumerate(row)}
    neighbours = above if down else below
    swept = []
    for row in rows if down else reversed(rows):
        middle = {
            name: sum(place[one] for one in around) / len(around)
            for name in row
            if (around := neighbours.get(name))
        }
        row = sorted(row, key=lambda name: (middle.get(name, place[name]), name))
        place |= {name: index / len(row) for index, name in enumerate(row)}
        swept.append(row)
    return swept if down else swept[::-1]


def _crossings(rows: list[list[str]], below: dict[str, list[str]]) -> int:
    """How many pairs of edges cross between neighbouring rows."""
    place = {name: index for row in rows for index, name in enumerate(row)}
    count = 0
    for row in rows:
        ends = [(place[name], place[other]) for name in row for other in below.get(name, ())]
        count += sum(
            (a - c) * (b - d) < 0 for index, (a, b) in enumerate(ends) for c, d in ends[index + 1 :]
        )
    return count
