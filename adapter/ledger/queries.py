"""Reads the named queries of this folder's .sql files."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

_HEAD = re.compile(r"^-- (?P<name>[a-z_]+): .+$", re.MULTILINE)


@cache
def queries(family: str) -> dict[str, bytes]:
    """The queries of ``sql/<family>.sql`` by name.

    Each begins with a line ``-- name: what it does in one sentence``. ValueError for a name that
    stands twice or a query without text.
    """
    text = (resources.files(__package__) / "sql" / f"{family}.sql").read_text(encoding="utf-8")
    heads = list(_HEAD.finditer(text))
    found: dict[str, bytes] = {}
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        body = text[head.end() : following.start() if following else len(text)].strip()
        if head["name"] in found or not body:
            raise ValueError(f"{family}.sql: query {head['name']} stands twice or is empty")
        found[head["name"]] = body.encode()
    return found
