"""Markers: texts that exist nowhere else, each planted in one kind of value."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

CONTROL = "control"
"""The marker that is planted in names, which every place shows: finding it proves the search."""

_WIDTH = 2


@dataclass
class Markers:
    """The markers of one scan: all begin with a stem of this scan alone.

    Lower-case letters and digits, so that a marker may stand wherever a name or an id is wanted.
    """

    stem: str = field(default_factory=lambda: f"cnry{secrets.token_hex(6)}")
    names: list[str] = field(default_factory=lambda: [CONTROL])

    def __call__(self, name: str) -> str:
        """The marker of a kind of value, the same one each time."""
        if name not in self.names:
            self.names.append(name)
        return f"{self.stem}{self.names.index(name):0{_WIDTH}}z"

    @property
    def all(self) -> dict[str, str]:
        """Every marker by the kind of value that it stands for."""
        return {name: self(name) for name in self.names}

    @property
    def planted(self) -> list[str]:
        """The kinds of values that carry a marker; the control is none of them."""
        return [name for name in self.names if name != CONTROL]
