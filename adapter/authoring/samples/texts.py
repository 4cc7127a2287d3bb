"""Texts and numbers within a schema's bounds, plausible to read and different for each seed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from uuid import UUID

from adapter.authoring.samples.choices import Choices
from adapter.authoring.samples.merging import FORMATS, PATTERNS, Contradiction, Schema
from adapter.authoring.samples.patterns import NOTHING_SPARE, NotSimple, Writer, pattern_writer

LONGEST_TEXT = 65_536
_TRIES_OF_PATTERNS = 16
_BEGINNING = datetime(2026, 3, 2, 8, tzinfo=UTC)
_SPREAD_SECONDS = 86_400
_LARGEST_NUMBER = 2**53
_USUAL_SPREAD = 1_000
_HEX = "0123456789abcdef"


def text(schema: Schema, name: str, choices: Choices) -> str:
    """A text that fits lengths, pattern and format; ``name`` is the member it is made for."""
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength", LONGEST_TEXT)
    if shortest > min(longest, LONGEST_TEXT):
        raise Contradiction
    if schema.get(PATTERNS):
        return _matching(schema, shortest, choices)
    for format in schema.get(FORMATS, ()):
        if format in _FORMATTED:
            return _lengthened(_FORMATTED[format](name, choices), format, shortest)
    ending = _hex(choices, 8)
    words = f"{name}-{ending}" if name else ending
    if len(words) > longest:
        words = words[len(words) - longest :]
    return words.ljust(shortest, "x")


def _matching(schema: Schema, shortest: int, choices: Choices) -> str:
    """A text for one of the patterns that fits the others, too, if such a one is found soon."""
    patterns = schema[PATTERNS]
    found = ""
    for turn in range(_TRIES_OF_PATTERNS if len(patterns) > 1 else 1):
        try:
            write = pattern_writer(patterns[turn % len(patterns)])
        except NotSimple:
            continue
        found = _fitting(write, schema, shortest, choices)
        if all(re.search(one, found) for one in patterns):
            return found
    return found


def _fitting(write: Writer, schema: Schema, shortest: int, choices: Choices) -> str:
    """A text of a fitting length, as far as the pattern lets its length be chosen."""
    most = schema.get("maxLength", LONGEST_TEXT)
    # Mostly short; now and then longer, for another condition that asks for more.
    extra = (0, 0, 1, 3, 7)[choices.among(5)]
    found = write(choices, extra)
    if len(found) > most:
        found = write(choices, NOTHING_SPARE)
    if len(found) < shortest:
        found = write(choices, shortest)
        if len(found) > most:
            found = write(choices, max(2 * shortest - len(found), 0))
    return found


def _lengthened(found: str, format: str, shortest: int) -> str:
    padding = "x" * max(shortest - len(found), 0)
    if format == "email":
        return padding + found
    return found + padding if format in _PADDED_AT_THE_END else found


_PADDED_AT_THE_END = frozenset({"uri", "uri-reference", "json-pointer", "regex"})


def _hex(choices: Choices, count: int) -> str:
    return "".join(_HEX[choices.among(16)] for _ in range(count))


def _instant(choices: Choices) -> datetime:
    return _BEGINNING + timedelta(seconds=choices.among(_SPREAD_SECONDS))


def _date_time(_: str, choices: Choices) -> str:
    return _instant(choices).isoformat().replace("+00:00", "Z")


def _uuid(_: str, choices: Choices) -> str:
    return str(UUID(hex=_hex(choices, 32), version=4))


def _host(choices: Choices) -> str:
    return f"{_hex(choices, 4)}.example.org"


_FORMATTED: dict[str, Callable[[str, Choices], str]] = {
    "date-time": _date_time,
    "date": lambda _, choices: _instant(choices).date().isoformat(),
    "time": lambda _, choices: f"{_instant(choices).time().isoformat()}Z",
    "duration": lambda _, choices: f"PT{choices.among(23) + 1}H",
    "email": lambda _, choices: f"person.{_hex(choices, 4)}@example.org",
    "hostname": lambda _, choices: f"h{_host(choices)}",
    "ipv4": lambda _, choices: f"192.0.2.{choices.among(256)}",
    "ipv6": lambda _, choices: f"2001:db8::{_hex(choices, 4)}",
    "uri": lambda _, choices: f"https://example.org/{_hex(choices, 6)}",
    "uri-reference": lambda _, choices: f"/{_hex(choices, 6)}",
    "uuid": _uuid,
    "json-pointer": lambda _, choices: f"/{_hex(choices, 4)}",
    "regex": lambda _, choices: _hex(choices, 4),
}


def number(schema: Schema, *, whole: bool, choices: Choices) -> int | float:
    """A number within the bounds that is a multiple of what the schema asks for."""
    step = Fraction(str(schema["multipleOf"])) if "multipleOf" in schema else None
    if whole and step is not None:
        step = Fraction(math.lcm(step.numerator, step.denominator) // step.denominator)
    elif whole:
        step = Fraction(1)
    low, high = (
        _limit(schema, "minimum", "exclusiveMinimum"),
        _limit(schema, "maximum", "exclusiveMaximum"),
    )
    if step is None:
        return _between(low, high, choices)
    first = None if low is None else _first_multiple(low, step)
    last = None if high is None else -_first_multiple((-high[0], high[1]), step)
    if first is None:
        first = 0 if last is None or last >= 0 else last - _USUAL_SPREAD
    if last is None:
        last = first + _USUAL_SPREAD
    if last < first:
        raise Contradiction
    found = (first + choices.among(min(last - first, _USUAL_SPREAD) + 1)) * step
    return _plain(found)


def _limit(schema: Schema, inclusive: str, exclusive: str) -> tuple[Fraction, bool] | None:
    """The nearest bound and whether it is itself out of reach, None for one that is far away."""
    found = [
        (Fraction(str(schema[key])), key == exclusive)
        for key in (inclusive, exclusive)
        if key in schema and abs(schema[key]) <= _LARGEST_NUMBER
    ]
    if not found:
        return None
    nearest = max if inclusive == "minimum" else min
    bound = nearest(found, key=lambda one: one[0])
    return bound[0], any(shut for value, shut in found if value == bound[0])


def _first_multiple(low: tuple[Fraction, bool], step: Fraction) -> int:
    value, shut = low
    turns = math.ceil(value / step)
    return turns + 1 if shut and turns * step == value else turns


def _between(
    low: tuple[Fraction, bool] | None, high: tuple[Fraction, bool] | None, choices: Choices
) -> int | float:
    if low is None and high is None:
        return _plain(Fraction(choices.among(_USUAL_SPREAD), 4))
    if low is None:
        assert high is not None
        low = (high[0] - _USUAL_SPREAD, True)
    if high is None:
        high = (low[0] + _USUAL_SPREAD, True)
    if low[0] > high[0] or (low[0] == high[0] and (low[1] or high[1])):
        raise Contradiction
    if low[0] == high[0]:
        return _plain(low[0])
    parts = 16
    return _plain(low[0] + (high[0] - low[0]) * Fraction(choices.among(parts - 1) + 1, parts))


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
