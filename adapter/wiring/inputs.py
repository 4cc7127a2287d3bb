"""Whether an input fits its workflow: one compiled check for each revision."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from activities.catalogue.schemas import Check, compile_check
from adapter.errors import Refused
from interpreter.contract.values import JsonValue
from interpreter.definition.document import Definition


def input_check(value: JsonValue) -> Callable[[Definition], None]:
    """A check of an input against the schema of the definition that it is meant for."""

    def check(definition: Definition) -> None:
        misfit = _check_of(definition)(value)
        if misfit is not None:
            raise Refused(
                "input.invalid",
                "the input does not fit the workflow's input schema",
                place=f"/input{misfit}".rstrip("/"),
                remedy="see the input schema of the workflow's project",
                status=422,
            )

    return check


class ByRevision:
    """A definition as a key of what is made of it once; equal by its revision."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition

    def __hash__(self) -> int:
        return hash(self.definition.revision)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ByRevision) and self.definition.revision == other.definition.revision
        )


@lru_cache(maxsize=256)
def _compiled(key: ByRevision) -> Check:
    return compile_check(key.definition.input_schema)


def _check_of(definition: Definition) -> Check:
    return _compiled(ByRevision(definition))
