"""Two definitions side by side: whether the revision changes, and what changed in execution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from activities.yaml.sources import child_pointer
from interpreter.contract.values import JsonValue
from interpreter.definition.document import PackagedDefinition

_LONGEST_SHOWN = 60


class ChangeKind(StrEnum):
    """What happened to a part."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Change:
    """One part that differs; ``old`` and ``new`` are shown only when both are short scalars."""

    kind: ChangeKind
    pointer: str
    old: JsonValue = None
    new: JsonValue = None

    def to_json(self) -> dict[str, JsonValue]:
        """``{kind, pointer, old?, new?}``."""
        change: dict[str, JsonValue] = {"kind": self.kind.value, "pointer": self.pointer}
        if _shown(self):
            change |= {"old": self.old, "new": self.new}
        return change

    def to_text(self) -> str:
        """One line."""
        tail = f": {_word(self.old)} -> {_word(self.new)}" if _shown(self) else ""
        return f"{self.kind.value} {self.pointer or '/'}{tail}"


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between an old and a new definition.

    ``execution`` changes make the new revision; ``labels`` are words for people only.
    """

    old_revision: str
    new_revision: str
    execution: tuple[Change, ...]
    labels: tuple[Change, ...]

    @property
    def changes_revision(self) -> bool:
        """True when runs of the new definition may behave differently."""
        return self.old_revision != self.new_revision

    def to_json(self) -> dict[str, JsonValue]:
        """``{revisionChanges, oldRevision, newRevision, execution: […], labels: […]}``."""
        return {
            "revisionChanges": self.changes_revision,
            "oldRevision": self.old_revision,
            "newRevision": self.new_revision,
            "execution": [one.to_json() for one in self.execution],
            "labels": [one.to_json() for one in self.labels],
        }

    def to_text(self) -> str:
        """The same for a person at a terminal."""
        if self.changes_revision:
            head = [
                "the revision changes",
                f"  old {self.old_revision}",
                f"  new {self.new_revision}",
            ]
        else:
            head = [f"the revision stays {self.new_revision}"]
        execution = [f"  {one.to_text()}" for one in self.execution]
        labels = [f"  {one.to_text()}" for one in self.labels]
        return (
            "\n".join(
                [
                    *head,
                    *(["execution", *execution] if execution else []),
                    *(["labels (no effect on execution)", *labels] if labels else []),
                ]
            )
            + "\n"
        )


def diff(old: PackagedDefinition, new: PackagedDefinition) -> Difference:
    """Compare two definitions; parts come in the order of their pointers."""
    return Difference(
        old.definition.revision,
        new.definition.revision,
        tuple(_changes(old.definition.to_json(), new.definition.to_json(), "")),
        tuple(_changes(old.labels.to_json(), new.labels.to_json(), "")),
    )


def _changes(old: JsonValue, new: JsonValue, at: str) -> Iterator[Change]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            below = child_pointer(at, key)
            if key not in new:
                yield Change(ChangeKind.REMOVED, below)
            elif key not in old:
                yield Change(ChangeKind.ADDED, below)
            else:
                yield from _changes(old[key], new[key], below)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _changes(one, other, child_pointer(at, index))
    elif old != new or isinstance(old, bool) is not isinstance(new, bool):
        # 1 and 1.0 are one number, and the canonical form writes them alike.
        yield Change(ChangeKind.CHANGED, at, old, new)


def _shown(change: Change) -> bool:
    return change.kind is ChangeKind.CHANGED and all(
        not isinstance(one, dict | list) and len(_word(one)) <= _LONGEST_SHOWN
        for one in (change.old, change.new)
    )


def _word(value: JsonValue) -> str:
    return "null" if value is None else str(value)
