"""What is wrong with a runtime file: every finding with its pointer, and the error of them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from adapter.errors import Usage

_MOST_FINDINGS = 100


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong; ``pointer`` is an RFC 6901 pointer into the file."""

    code: str
    pointer: str
    message: str
    remedy: str
    line: int = 0

    def to_json(self) -> dict[str, Any]:
        """``{code, pointer, message, remedy, line}``."""
        return {
            "code": self.code,
            "pointer": self.pointer,
            "message": self.message,
            "remedy": self.remedy,
            "line": self.line,
        }


class ConfigurationError(Usage):
    """A runtime file that can not be used; ``findings`` holds all that is wrong, at most 100."""

    def __init__(self, place: str, findings: Sequence[Finding]) -> None:
        first = findings[0]
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        where = f"{place}:{first.line}" if first.line else place
        super().__init__(
            first.code,
            f"{first.message}{more}",
            place=f"{where}#{first.pointer}",
            remedy=first.remedy,
        )
        self.findings = tuple(findings[:_MOST_FINDINGS])


class RuleBroken(ValueError):
    """Raised inside a model's own check: message and remedy of a rule, without any value."""

    def __init__(self, message: str, remedy: str, *, code: str = "config.invalid-value") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.code = code


# pydantic's error type -> code, message, remedy. Its own texts may hold the value, so none is used.
_WORDS: dict[str, tuple[str, str, str]] = {
    "missing": ("config.missing-key", "a required key is missing", "add it"),
    "extra_forbidden": (
        "config.unknown-key",
        "this key is not known here",
        "remove it, or correct its spelling",
    ),
    "literal_error": ("config.invalid-value", "the value is none of {expected}", "choose one"),
    "enum": ("config.invalid-value", "the value is none of {expected}", "choose one"),
    "union_tag_invalid": (
        "config.unknown-variant",
        "the kind is none of {expected_tags}",
        "choose one",
    ),
    "union_tag_not_found": (
        "config.missing-key",
        "the key that says which kind this is is missing",
        "add it",
    ),
    "string_type": ("config.expected-string", "a string is wanted", "write it in quotes"),
    "int_type": ("config.expected-integer", "a whole number is wanted", "write digits only"),
    "int_parsing": ("config.expected-integer", "a whole number is wanted", "write digits only"),
    "bool_type": ("config.expected-boolean", "true or false is wanted", "write true or false"),
    "dict_type": ("config.invalid-type", "a mapping is wanted", "write keys below it"),
    "model_type": ("config.invalid-type", "a mapping is wanted", "write keys below it"),
    "list_type": ("config.invalid-type", "a list is wanted", "write items with dashes"),
    "tuple_type": ("config.invalid-type", "a list is wanted", "write items with dashes"),
    "greater_than_equal": (
        "config.out-of-range",
        "the number is below {ge}",
        "use {ge} or more",
    ),
    "less_than_equal": ("config.out-of-range", "the number is above {le}", "use {le} or less"),
    "string_pattern_mismatch": (
        "config.invalid-value",
        "the text does not match {pattern}",
        "correct its form",
    ),
    "too_short": ("config.invalid-length", "at least {min_length} needed", "add what is missing"),
    "too_long": ("config.invalid-length", "more than {max_length}", "use fewer"),
    "string_too_short": (
        "config.invalid-length",
        "the text is shorter than {min_length}",
        "make it longer",
    ),
    "string_too_long": (
        "config.invalid-length",
        "the text is longer than {max_length}",
        "shorten it",
    ),
}
_OTHERWISE = ("config.invalid-value", "the value can not be used here", "see docs/runtime.md")


_TAGGED = frozenset({"authorization", "keySet"})
"""The members whose kind pydantic names after them; elsewhere the same word is a name."""


def pointer(location: Sequence[str | int]) -> str:
    """The RFC 6901 pointer of a path of keys and indexes."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in location)


def findings_of(error: ValidationError, tags: frozenset[str]) -> list[Finding]:
    """The findings of a failed validation, in file order, at most one more than is kept.

    ``tags`` are the discriminator values that pydantic adds to a location; they are no keys.
    """
    details = error.errors(include_url=False)[: _MOST_FINDINGS + 1]
    return [_finding(detail, tags) for detail in details]


def _finding(detail: Any, tags: frozenset[str]) -> Finding:
    parts = detail["loc"]
    location = [
        part
        for before, part in zip(("", *parts), parts, strict=False)
        if not (part in tags and before in _TAGGED)
    ]
    context = detail.get("ctx", {})
    broken = context.get("error")
    if isinstance(broken, RuleBroken):
        return Finding(broken.code, pointer(location), broken.message, broken.remedy)
    code, message, remedy = _WORDS.get(detail["type"], _OTHERWISE)
    return Finding(code, pointer(location), message.format(**context), remedy.format(**context))
