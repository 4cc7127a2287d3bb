"""The author's files as text, and places in them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in an authored file.

    ``line`` and ``column`` count characters from 1, ``length`` is the number of characters to
    underline on that line, ``pointer`` the JSON pointer of the value that stands there.
    """

    file: str
    line: int = 1
    column: int = 1
    pointer: str = ""
    length: int = 1


@dataclass(frozen=True)
class Source:
    """One file: its name inside the project and its text with line ends as the author wrote."""

    file: str
    text: str

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends; a carriage return at the end of a line is dropped."""
        return [line.removesuffix("\r") for line in self.text.split("\n")]

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self.text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        return starts

    def line(self, number: int) -> str | None:
        """The text of a line counted from 1, or None if there is no such line."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else None

    def spot(self, offset: int, pointer: str = "", length: int = 1) -> Spot:
        """The place of a character offset."""
        row = min(bisect_right(self._starts, offset) - 1, len(self._starts) - 2)
        return Spot(self.file, row + 1, offset - self._starts[row] + 1, pointer, length)


@dataclass(frozen=True, slots=True)
class Sources:
    """Every file that a project was read from, by its name inside the project."""

    files: dict[str, Source] = field(default_factory=dict)

    def line(self, file: str, number: int) -> str | None:
        """The text of a line counted from 1, or None if there is no such line."""
        source = self.files.get(file)
        return None if source is None else source.line(number)


def child_pointer(pointer: str, key: str | int) -> str:
    """The pointer of a member or item below ``pointer`` (RFC 6901 escapes)."""
    return f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"


def pointer_parts(pointer: str) -> list[str]:
    """The unescaped reference tokens of a JSON pointer (``""`` has none)."""
    if not pointer:
        return []
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]
