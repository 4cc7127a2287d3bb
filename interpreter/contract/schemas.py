"""The one way to judge a value by a JSON Schema: draft 2020-12, formats asserted."""

from __future__ import annotations

import re
from urllib.parse import quote

from jsonschema import Draft202012Validator, FormatChecker

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


def validator(schema: JsonValue) -> Draft202012Validator:
    """A validator of a schema that was accepted before; nothing is ever fetched."""
    return Draft202012Validator(schema, format_checker=FORMATS)
