"""JSON pointers (RFC 6901) and RFC 3339 instants, as mappings use them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from interpreter.contract.values import JsonValue

_INDEX = re.compile(r"^(0|[1-9][0-9]*)$")
_INSTANT = re.compile(r"^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$", re.ASCII)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def resolve(value: JsonValue, pointer: str) -> JsonValue:
    """The member of ``value`` at an RFC 6901 pointer; LookupError if there is none."""
    if pointer == "":
        return value
    for token in pointer[1:].split("/"):
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value[key]
        elif isinstance(value, list) and _INDEX.match(key):
            value = value[int(key)]
        else:
            raise LookupError(pointer)
    return value


def epoch_milliseconds(text: str) -> int:
    """An RFC 3339 instant with offset as epoch milliseconds; ValueError for anything else."""
    if not _INSTANT.match(text):
        raise ValueError("not an RFC 3339 instant with an offset")
    try:
        moment = datetime.fromisoformat(text.upper()).astimezone(UTC)
    except OverflowError as error:
        raise ValueError("an instant outside the years 1 to 9999 of UTC") from error
    return (moment - _EPOCH) // _MILLISECOND


def instant(milliseconds: int) -> str:
    """Epoch milliseconds as RFC 3339 in UTC with milliseconds."""
    moment = _EPOCH + milliseconds * _MILLISECOND
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
