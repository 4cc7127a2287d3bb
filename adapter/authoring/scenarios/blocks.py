"""Values as YAML blocks that the strict reader takes back unchanged."""

from __future__ import annotations

import json
import re

from activities.yaml.scalars import resolve
from interpreter.contract.values import JsonValue

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./ -]*(?<! )\Z")
_WIDEST = 96


def block(value: JsonValue, indent: int) -> list[str]:
    """The lines of a mapping or list, each indented by ``indent`` blanks."""
    margin = " " * indent
    lines: list[str] = []
    if isinstance(value, dict):
        for key, item in value.items():
            lines += _member(f"{margin}{plain(key)}:", item, indent)
    else:
        for item in value:
            if isinstance(item, dict) and item and not _fits(item, indent + 2):
                first, *rest = block(item, indent + 2)
                lines += [f"{margin}- {first.lstrip()}", *rest]
            else:
                lines.append(f"{margin}- {flow(item)}")
    return lines


def _member(start: str, item: JsonValue, indent: int) -> list[str]:
    if not isinstance(item, dict | list) or not item or _fits(item, len(start) + 1):
        return [f"{start} {flow(item)}"]
    return [start, *block(item, indent + 2)]


def _fits(value: JsonValue, column: int) -> bool:
    """True when a value is short enough for one line; lists of tables get lines of their own."""
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return False
    return column + len(flow(value)) <= _WIDEST


def flow(value: JsonValue) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{plain(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return plain(value) if isinstance(value, str) else json.dumps(value)


def plain(text: str) -> str:
    """Text as it is where no reader could take it for anything else, quoted otherwise."""
    if _PLAIN.match(text) and isinstance(resolve(text), str):
        return text
    return json.dumps(text, ensure_ascii=False)
