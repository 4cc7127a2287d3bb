"""The one way to judge a value by a JSON Schema: draft 2020-12, formats asserted."""

from __future__ import annotations

import re

from jsonschema import Draft202012Validator, FormatChecker

from interpreter.contract.values import JsonValue

# RFC 3339 appendix A. Written here because the library's own check loads a calendar for it.
_TIME = r"T(?=\d)(\d+H)?(\d+M)?(\d+S)?"
_DATE = r"(?=\d)(\d+Y)?(\d+M)?(\d+D)?"
_DURATION = re.compile(rf"P(?:\d+W|{_DATE}(?:{_TIME})?|{_TIME})", re.ASCII)

FORMATS: FormatChecker = Draft202012Validator.FORMAT_CHECKER
"""Every format that is asserted."""


@FORMATS.checks("duration")
def _is_duration(value: object) -> bool:
    return not isinstance(value, str) or _DURATION.fullmatch(value) is not None


def validator(schema: JsonValue) -> Draft202012Validator:
    """A validator of a schema that was accepted before; nothing is ever fetched."""
    return Draft202012Validator(schema, format_checker=FORMATS)
