"""The one way to judge a value by a JSON Schema: draft 2020-12, formats asserted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError

from interpreter.contract.values import JsonValue

# RFC 3339 appendix A. Written here because the library's own check loads a calendar for it.
_TIME = r"T(?=\d)(\d+H)?(\d+M)?(\d+S)?"
_DATE = r"(?=\d)(\d+Y)?(\d+M)?(\d+D)?"
_DURATION = re.compile(rf"P(?:\d+W|{_DATE}(?:{_TIME})?|{_TIME})", re.ASCII)

_NO_LETTER = re.compile(r"[\x00-\x20\x7f-\x9f\ud800-\udfff\ue000-\uf8ff\ufff0-\uffff]")

FORMATS: FormatChecker = Draft202012Validator.FORMAT_CHECKER
"""Every format that is asserted."""


@FORMATS.checks("duration")
def _is_duration(value: object) -> bool:
    return not isinstance(value, str) or _DURATION.fullmatch(value) is not None


@FORMATS.checks("iri")
def _is_iri(value: object) -> bool:
    return not isinstance(value, str) or _is_escaped(value, "uri")


@FORMATS.checks("iri-reference")
def _is_iri_reference(value: object) -> bool:
    return not isinstance(value, str) or _is_escaped(value, "uri-reference")


def _is_escaped(value: str, format: str) -> bool:
    """RFC 3987 section 3.1: an IRI is what becomes a URI when its other letters are escaped."""
    if _NO_LETTER.search(value):
        return False
    written = "".join(one if one.isascii() else quote(one) for one in value)
    return FORMATS.conforms(written, format)


@FORMATS.checks("idn-hostname", raises=UnicodeError)
def _is_idn_hostname(value: object) -> bool:
    if not isinstance(value, str):
        return True
    # The names of RFC 5890 differ in a few letters from those that the standard codec knows.
    return FORMATS.conforms(value.encode("idna").decode("ascii"), "hostname")


@dataclass(frozen=True, slots=True)
class Misfit:
    """Where a value does not fit its schema, and the rule that it breaks.

    ``pointer`` names members and positions, ``""`` the whole value; ``rule`` is the schema's own
    words: ``minLength 3``, ``required applicationId``, ``pattern``. Neither holds a value.
    """

    pointer: str
    rule: str


def first_misfit(compiled: Draft202012Validator, value: JsonValue) -> Misfit | None:
    """The first part of a value that does not fit, or None."""
    error = next(compiled.iter_errors(value), None)
    if error is None:
        return None
    pointer = "".join(f"/{escaped(str(part))}" for part in error.absolute_path)
    return Misfit(pointer, _rule(error))


def escaped(token: str) -> str:
    """A reference token as it stands in a JSON pointer (RFC 6901)."""
    return token.replace("~", "~0").replace("/", "~1")


def _rule(error: ValidationError) -> str:
    """A rule's keyword, with what it asks for where that is short and is no value of anybody."""
    keyword, asked = str(error.validator), error.validator_value
    if error.schema is False:
        return "nothing fits here"
    if keyword in ("required", "dependentRequired"):
        return " ".join([keyword, *_absent(asked, error.instance)])
    if isinstance(asked, bool):
        return keyword
    if keyword in _TOLD and isinstance(asked, int | float | str):
        return f"{keyword} {asked}"
    if keyword == "type" and isinstance(asked, list):
        return f"type {' or '.join(map(str, asked))}"
    return keyword


def _absent(asked: JsonValue, instance: JsonValue) -> list[str]:
    """The members that are asked for and not there."""
    if isinstance(asked, dict):
        asked = [name for key, names in asked.items() if key in instance for name in names]
    return [name for name in asked if name not in instance]


_TOLD = frozenset(
    {
        "type",
        "format",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
        "minContains",
        "maxContains",
        "minProperties",
        "maxProperties",
    }
)


def validator(schema: JsonValue) -> Draft202012Validator:
    """A validator of a schema that was accepted before; nothing is ever fetched."""
    return Draft202012Validator(schema, format_checker=FORMATS)
