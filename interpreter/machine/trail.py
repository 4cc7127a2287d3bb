"""The way that a run took through its graph, node by node and outlet by outlet."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """A branch came to a node, or left it through ``outlet`` (empty while it only came)."""

    branch: str
    node: str
    visit: int
    outlet: str = ""
