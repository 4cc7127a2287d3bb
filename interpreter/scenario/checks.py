"""Checks of scripted values against schemas, remembered: cases of a suite repeat their values."""

from __future__ import annotations

import json

from interpreter.contract.values import JsonValue
from interpreter.machine.schemas import Schemas

MOST_REMEMBERED = 4_096


class Checks:
    """Which values fit which schemas of one definition."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self._known: dict[tuple[int, str], str | None] = {}

    def misfit(self, schema: JsonValue, value: JsonValue) -> str | None:
        """The JSON pointer of the first part of ``value`` that does not fit, or None."""
        if schema is True:
            return None
        # The validators keep their schemas, so an identity stands for one schema all the time.
        key = (id(schema), json.dumps(value))
        if key in self._known:
            return self._known[key]
        if len(self._known) >= MOST_REMEMBERED:
            self._known.clear()
        found = self._schemas.misfit(schema, value)
        self._known[key] = found
        return found
