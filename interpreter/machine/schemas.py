"""Whether values fit the schemas of a definition, and where not; each is compiled once."""

from __future__ import annotations

from jsonschema import Draft202012Validator

from interpreter.contract.schemas import Misfit, first_misfit, validator
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
        found = self.broken(schema, value)
        return None if found is None else found.pointer

    def broken(self, schema: JsonValue, value: JsonValue) -> Misfit | None:
        """The same with the rule that is broken."""
        return None if schema is True else first_misfit(self._validator(schema), value)

    def _validator(self, schema: JsonValue) -> Draft202012Validator:
        entry = self._known.get(id(schema))
        if entry is None:
            entry = (schema, validator(schema))
            self._known[id(schema)] = entry
        return entry[1]
