"""Whether an input fits its workflow: one compiled check for each revision."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from jsonschema import Draft202012Validator

from adapter.errors import Refused
from interpreter.contract.schemas import first_misfit, validator
from interpreter.contract.values import JsonValue
from interpreter.definition.document import Definition


def input_check(value: JsonValue) -> Callable[[Definition], None]:
    """A check of an input against the schema of the definition that it is meant for."""

    def check(definition: Definition) -> None:
        misfit = first_misfit(_compiled(ByRevision(definition)), value)
        if misfit is not None:
            raise Refused(
                "input.invalid",
                f"the input does not fit the workflow's input schema: {misfit.rule}",
                place=f"/input{misfit.pointer}",
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
def _compiled(key: ByRevision) -> Draft202012Validator:
    return validator(key.definition.input_schema)
