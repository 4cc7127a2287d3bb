"""Whether values fit the schemas of a definition, and where not; each is compiled once."""

from __future__ import annotations

from jsonschema import Draft202012Validator

from interpreter.contract.schemas import validator
from interpreter.contract.values import JsonValue


class Schemas:
    """Compiled validators of one definition's schemas (draft 2020-12, formats asserted)."""

    def __init__(self) -> None:
        # A schema is a part of a frozen definition: its identity is its key, and the schema itself
        # is kept beside the validator so that no other object can take the identity.
        self._known: dict[int, tuple[JsonValue, Draft202012Validator]] = {}

    def fits(self, schema: JsonValue, value: JsonValue) -> bool:
        """True when the value satisfies the schema."""
        return schema is True or self._validator(schema).is_valid(value)

    def misfit(self, schema: JsonValue, value: JsonValue) -> str | None:
        """The JSON pointer of the first part of ``value`` that does not fit, or None.

        The pointer names members and positions, never a value; ``""`` is the whole value.
        """
        if schema is True:
            return None
        error = next(self._validator(schema).iter_errors(value), None)
        if error is None:
            return None
        return "".join(f"/{escaped(str(part))}" for part in error.absolute_path)

    def _validator(self, schema: JsonValue) -> Draft202012Validator:
        entry = self._known.get(id(schema))
        if entry is None:
            entry = (schema, validator(schema))
            self._known[id(schema)] = entry
        return entry[1]


def escaped(token: str) -> str:
    """A reference token as it stands in a JSON pointer (RFC 6901)."""
    return token.replace("~", "~0").replace("/", "~1")
