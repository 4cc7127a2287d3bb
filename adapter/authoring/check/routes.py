"""The routes of a definition: what is reached, what has run where, and with which result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TypeAlias

from interpreter.definition.nodes import AnyNode

Standing: TypeAlias = Mapping[str, frozenset[str]]
"""Step -> the outlets it may have been left through; ``NOT_RUN`` if it may not have run."""

NOT_RUN = ""


class Routes:
    """The graph of one definition; edges to undeclared steps are left out."""

    def __init__(self, nodes: Mapping[str, AnyNode], start: str) -> None:
        self._start = start
        self._edges: dict[str, list[tuple[str, str]]] = {
            name: [(outlet, target) for outlet, target in node.outlets.items() if target in nodes]
            for name, node in nodes.items()
        }
        self._targets: dict[str, dict[str, frozenset[str]]] = {
            name: _by_target(out) for name, out in self._edges.items()
        }
        order: list[str] = []
        if start in self._edges:
            _finish_order(start, self._edges, set(), order)
        self._order = order[::-1]
        self.at = lru_cache(maxsize=None)(self._at)

    def reached(self) -> set[str]:
        """Every step that some route from the start reaches."""
        return set(self.at(frozenset()))

    def cycles(self) -> list[list[str]]:
        """Groups of steps that lead back to each other, each in the order of one round."""
        return [_round(group, self._edges) for group in _groups(self._edges)]

    def _at(self, without: frozenset[str]) -> dict[str, Standing]:
        """For each step reached on routes that avoid ``without``: what has run before it.

        Steps are taken in an order in which, circles aside, each comes after all that lead to it.
        """
        if self._start not in self._edges or self._start in without:
            return {}
        standing: dict[str, dict[str, frozenset[str]]] = {self._start: {}}
        changed = {self._start}
        while changed:
            for name in self._order:
                if name not in changed:
                    continue
                changed.discard(name)
                for target, outlets in self._targets[name].items():
                    if target in without:
                        continue
                    after = {**standing[name], name: outlets}
                    before = standing.get(target)
                    merged = after if before is None else _merge(before, after)
                    if merged != before:
                        standing[target] = merged
                        changed.add(target)
        return dict(standing)

    def before(self, step: str, without: Iterable[str] = ()) -> Standing | None:
        """What has run when a route that avoids ``without`` reaches ``step``; None: none does."""
        return self.at(frozenset(without)).get(step)


def _by_target(out: list[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """Target -> the outlets that lead to it."""
    targets: dict[str, frozenset[str]] = {}
    for outlet, target in out:
        targets[target] = targets.get(target, frozenset()) | {outlet}
    return targets


def _merge(
    one: Mapping[str, frozenset[str]], other: Mapping[str, frozenset[str]]
) -> dict[str, frozenset[str]]:
    not_run = frozenset({NOT_RUN})
    return {name: one.get(name, not_run) | other.get(name, not_run) for name in {**one, **other}}


def _groups(edges: Mapping[str, list[tuple[str, str]]]) -> list[set[str]]:
    """Strongly connected groups that hold a cycle (Kosaraju's two passes)."""
    order: list[str] = []
    seen: set[str] = set()
    for root in edges:
        _finish_order(root, edges, seen, order)
    back: dict[str, list[str]] = {name: [] for name in edges}
    for name, out in edges.items():
        for _, target in out:
            back[target].append(name)
    placed: set[str] = set()
    groups = []
    for root in reversed(order):
        group = {root} if root not in placed else set()
        stack = list(group)
        while stack:
            name = stack.pop()
            placed.add(name)
            fresh = [one for one in back[name] if one not in placed and one not in group]
            group.update(fresh)
            stack += fresh
        if len(group) > 1 or any(root == target for _, target in edges[root] if group):
            groups.append(group)
    return groups


def _finish_order(
    root: str, edges: Mapping[str, list[tuple[str, str]]], seen: set[str], order: list[str]
) -> None:
    if root in seen:
        return
    seen.add(root)
    stack = [(root, iter(edges[root]))]
    while stack:
        name, out = stack[-1]
        for _, target in out:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(edges[target])))
                break
        else:
            stack.pop()
            order.append(name)


def _round(group: set[str], edges: Mapping[str, list[tuple[str, str]]]) -> list[str]:
    """One way round inside a group, beginning with its alphabetically first step."""
    start = min(group)
    came: dict[str, str] = {}
    waiting = [start]
    while waiting:
        name = waiting.pop(0)
        for _, target in edges[name]:
            if target == start:
                path = [name]
                while path[-1] != start:
                    path.append(came[path[-1]])
                return path[::-1]
            if target in group and target not in came:
                came[target] = name
                waiting.append(target)
    return sorted(group)
