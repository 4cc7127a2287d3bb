"""What a plain YAML scalar means: the YAML 1.2 core schema without its ambiguous numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

Plain: TypeAlias = bool | int | float | str | None

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\Z")
_AMBIGUOUS = re.compile(
    r"""[-+]?(?:
        0[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?   # a leading zero
      | \.[0-9]+(?:[eE][-+]?[0-9]+)?               # nothing before the point
      | [0-9]+\.(?:[eE][-+]?[0-9]+)?               # nothing after the point
      | 0[xX][0-9a-fA-F]+ | 0[oO][0-7]+ | 0[bB][01]+
      | \.(?:inf|Inf|INF|nan|NaN|NAN)
    )\Z""",
    re.VERBOSE,
)
_LONGEST_INTEGER = 20
"""Digits and sign of the longest integer that fits 64 bits."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A plain scalar without one meaning; ``code`` says why."""

    code: str


def resolve(text: str) -> Plain | Refused:
    """The value of a plain scalar, or why it is refused.

    Rule (contract 1.1): numbers that YAML versions read differently are refused, words such as
    ``yes`` and clock times are text.
    """
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.match(text):
        return _integer(text)
    if _AMBIGUOUS.match(text):
        return Refused("yaml.ambiguous-number")
    if _FLOAT.match(text):
        value = float(text)
        if value in (float("inf"), float("-inf")):
            return Refused("config.out-of-range")
        return value or 0.0
    return text


def _integer(text: str) -> int | Refused:
    if len(text) > _LONGEST_INTEGER:
        return Refused("config.out-of-range")
    value = int(text)
    return value if -(2**63) <= value < 2**63 else Refused("config.out-of-range")
