"""JSON as this project handles it: the alias, the frozen model base and canonical bytes."""

from __future__ import annotations

import hashlib
from typing import Any, TypeAlias

import rfc8785
from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer
from pydantic.alias_generators import to_camel

from interpreter.errors import DefinitionError

JsonValue: TypeAlias = Any
"""A value as ``json.loads`` gives it: None, bool, int, float, str, list or dict with str keys."""


DEEPEST_JSON = 256
"""Levels below the root of a JSON text from outside. A project's file may have 128 of them, and
no Python gives out at 256: each release has a limit of its own, from a thousand to none."""


class Document(BaseModel):
    """A frozen value whose JSON has camelCase names and refuses names it does not know."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )

    @model_serializer(mode="wrap")
    def _leave_out_absent(self, handler: SerializerFunctionWrapHandler) -> dict[str, JsonValue]:
        # Only a member whose default is None may be absent: a literal null must stay.
        written: dict[str, JsonValue] = handler(self)
        for name, field in type(self).model_fields.items():
            if field.default is None and getattr(self, name) is None:
                written.pop(field.alias or name, None)
                written.pop(name, None)
        return written

    def to_json(self) -> dict[str, JsonValue]:
        """Its JSON object, with absent optional members left out and defaults written."""
        result: dict[str, JsonValue] = self.model_dump(mode="json", by_alias=True)
        return result


def nested_deeper(text: bytes, value: JsonValue, levels: int) -> bool:
    """Whether a JSON text's value has something more than ``levels`` below its root."""
    # A text with fewer brackets than levels needs no look at its value.
    if text.count(b"{") + text.count(b"[") <= levels:
        return False
    level = [value]
    for _ in range(levels + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def canonical_bytes(value: JsonValue) -> bytes:
    """RFC 8785 bytes of a JSON value.

    Raises DefinitionError ``value.not-canonical`` for what JSON can not hold (a non-finite number,
    an integer beyond 2^53 that RFC 8785 can not write exactly).
    """
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, RecursionError) as error:
        raise DefinitionError(
            "value.not-canonical",
            "the value has no canonical JSON form",
            remedy="keep integers within 2^53 and numbers finite, or pass them as strings",
        ) from error


def digest(value: JsonValue) -> str:
    """``sha256:`` and 64 hex digits over the canonical bytes of a JSON value."""
    return "sha256:" + hashlib.sha256(canonical_bytes(value)).hexdigest()
