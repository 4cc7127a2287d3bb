"""JSON pointers (RFC 6901) and RFC 3339 instants, as mappings use them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from interpreter.contract.values import JsonValue

_INDEX = re.compile(r"^(0|[1-9][0-9]*)$")
_INSTANT = re.compile(r"^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$", re.ASCII)


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
    return int(datetime.fromisoformat(text.upper()).astimezone(UTC).timestamp() * 1000)


def instant(milliseconds: int) -> str:
    """Epoch milliseconds as RFC 3339 in UTC with milliseconds."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
