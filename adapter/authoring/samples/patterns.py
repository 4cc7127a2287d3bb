"""Texts for regular expressions: literals, classes, groups, alternatives, repetition, anchors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from adapter.authoring.samples.choices import Choices

_PRINTABLE = [chr(code) for code in range(0x21, 0x7F)]
_DIGITS = list("0123456789")
_LETTERS = list("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_WORD = [*_LETTERS, *_DIGITS, "_"]
_SPACES = [" "]
_CLASSES = {
    "d": _DIGITS,
    "w": _WORD,
    "s": _SPACES,
    "D": [c for c in _PRINTABLE if c not in _DIGITS],
    "W": [c for c in _PRINTABLE if c not in _WORD],
    "S": _PRINTABLE,
}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_MOST_REPEATS = 4_096
NOTHING_SPARE = -1
"""In the place of extra turns: also what may be there or not is left out."""

Writer: TypeAlias = Callable[[Choices, int], str]
"""Writes one text that matches; repetition without an end gets so many more turns than it needs."""


class NotSimple(Exception):
    """The expression uses what is not understood here (look-around, back references …)."""


def pattern_writer(pattern: str) -> Writer:
    """A writer of texts that match ``pattern`` as a whole; NotSimple if it can not be read."""
    parser = _Parser(pattern)
    writer = parser.alternatives()
    if not parser.done:
        raise NotSimple
    return writer


class _Parser:
    """Reads an expression of the ECMA-262 dialect from left to right."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    @property
    def done(self) -> bool:
        return self._at >= len(self._pattern)

    def alternatives(self) -> Writer:
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        if len(branches) == 1:
            return branches[0]
        return lambda choices, extra: branches[choices.among(len(branches))](choices, extra)

    def _sequence(self) -> Writer:
        parts: list[Writer] = []
        while not self.done and self._pattern[self._at] not in "|)":
            if self._take("^") or self._take("$"):
                continue
            parts.append(self._repeated(self._atom()))
        return lambda choices, extra: "".join(part(choices, extra) for part in parts)

    def _atom(self) -> Writer:
        character = self._next()
        if character == "(":
            return self._group()
        if character == "[":
            return _one_of(self._set())
        if character == ".":
            return _one_of(_WORD)
        if character == "\\":
            return _one_of(self._escape())
        if character in "*+?{":
            raise NotSimple
        return _one_of([character])

    def _group(self) -> Writer:
        if self._take("?"):
            if self._take("<"):
                if self._peek() in ("=", "!"):
                    raise NotSimple
                while self._next() != ">":
                    continue
            elif not self._take(":"):
                raise NotSimple
        writer = self.alternatives()
        if not self._take(")"):
            raise NotSimple
        return writer

    def _escape(self) -> list[str]:
        character = self._next()
        if character in _CLASSES:
            return _CLASSES[character]
        if character in _CONTROLS:
            return [_CONTROLS[character]]
        if character in "xu":
            length = 2 if character == "x" else 4
            digits = "".join(self._next() for _ in range(length))
            try:
                return [chr(int(digits, 16))]
            except ValueError as error:
                raise NotSimple from error
        if character.isalnum():
            raise NotSimple
        return [character]

    def _set(self) -> list[str]:
        negated = self._take("^")
        found: list[str] = []
        while not self._take("]"):
            low = self._member()
            if len(low) == 1 and self._peek() == "-" and self._peek(1) not in ("]", ""):
                self._next()
                high = self._member()
                if len(high) != 1 or high[0] < low[0]:
                    raise NotSimple
                last = min(ord(high[0]), ord(low[0]) + 255)
                found += map(chr, range(ord(low[0]), last + 1))
            else:
                found += low
        if negated:
            left_out = set(found)
            found = [c for c in (*_WORD, *_PRINTABLE, " ") if c not in left_out]
        if not found:
            raise NotSimple
        return found

    def _member(self) -> list[str]:
        character = self._next()
        return self._escape() if character == "\\" else [character]

    def _repeated(self, writer: Writer) -> Writer:
        bounds = self._bounds()
        if bounds is None:
            return writer
        self._take("?")
        low, high = bounds

        def write(choices: Choices, extra: int) -> str:
            spare = 1 if low == 0 and extra != NOTHING_SPARE else 0
            most = low + max(extra, spare)
            times = most if high is None else min(most, high)
            return "".join(writer(choices, min(extra, 0)) for _ in range(min(times, _MOST_REPEATS)))

        return write

    def _bounds(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._take(sign):
                return bounds
        if self._peek() != "{":
            return None
        end = self._pattern.find("}", self._at)
        low, comma, high = self._pattern[self._at + 1 : end].partition(",")
        if end < 0 or not low.isdigit() or (high and not high.isdigit()):
            raise NotSimple
        self._at = end + 1
        return int(low), (int(high) if high else None) if comma else int(low)

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._pattern[at] if at < len(self._pattern) else ""

    def _take(self, character: str) -> bool:
        if self._peek() != character:
            return False
        self._at += 1
        return True

    def _next(self) -> str:
        if self.done:
            raise NotSimple
        self._at += 1
        return self._pattern[self._at - 1]


def _one_of(characters: list[str]) -> Writer:
    return lambda choices, _: characters[choices.among(len(characters))]
