"""What every front end produces: the parts of a definition, and where each was written."""

from __future__ import annotations

from dataclasses import dataclass, field

from activities.yaml.sources import Spot
from interpreter.contract.values import JsonValue
from interpreter.definition.document import Operation, Trigger
from interpreter.definition.nodes import AnyNode


@dataclass(slots=True)
class Origins:
    """Where the parts of a definition stand in the author's files.

    Keys are JSON pointers into the definition (``/nodes/notify/input/object/to``).
    """

    default: Spot
    spots: dict[str, Spot] = field(default_factory=dict)

    def put(self, pointer: str, spot: Spot) -> None:
        """Remember a place."""
        self.spots[pointer] = spot

    def find(self, pointer: str) -> Spot:
        """The place of a part, or of its nearest parent that has one."""
        while pointer:
            spot = self.spots.get(pointer)
            if spot is not None:
                return spot
            pointer = pointer.rpartition("/")[0]
        return self.default


@dataclass(slots=True)
class Draft:
    """A project as it was read; every part may still contradict another.

    ``unread`` names parts that exist but could not be read (``steps/notify``): a check says
    nothing about them. ``warn_unused`` asks for warnings about declarations without a use,
    ``warn_labels`` for warnings about the labels that a function's text suggests, ``calls_only``
    lets mappings read no other steps than calls.
    """

    origins: Origins
    id: str = ""
    version: str = ""
    title: str = ""
    description: str = ""
    input_schema: JsonValue = True
    outcomes: dict[str, JsonValue] = field(default_factory=dict)
    deadline_seconds: int = 31_536_000
    functions_file: str | None = None
    functions_source: str | None = None
    connections: dict[str, str] = field(default_factory=dict)
    operations: dict[str, Operation] = field(default_factory=dict)
    triggers: dict[str, Trigger] = field(default_factory=dict)
    start: str = ""
    nodes: dict[str, AnyNode] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    warn_unused: bool = True
    warn_labels: bool = True
    calls_only: bool = False

    def declared(self, kind: str) -> set[str]:
        """All declared names of a kind (``steps``, ``outcomes``…), unread ones included."""
        read: dict[str, set[str]] = {
            "steps": set(self.nodes),
            "outcomes": set(self.outcomes),
            "connections": set(self.connections),
            "operations": set(self.operations),
        }
        prefix = f"{kind}/"
        unread = {one.removeprefix(prefix) for one in self.unread if one.startswith(prefix)}
        return read[kind] | unread

    @property
    def whole(self) -> bool:
        """True when every step could be read, so that routes can be judged."""
        return not any(one.startswith("steps/") for one in self.unread)
