"""Several values for a schema, by counting through every alternative that it offers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from adapter.authoring.samples.choices import Counted, Seeded
from adapter.authoring.samples.generator import ABSENT, Extent, Maker
from adapter.authoring.samples.merging import Contradiction
from interpreter.contract.schemas import validator
from interpreter.contract.values import JsonValue

MOST_VARIANTS = 96
_LEAST = Extent(1, optional=False)


def variants(schema: JsonValue, most: int = MOST_VARIANTS) -> Iterator[JsonValue]:
    """Values that fit a schema and differ in what they take of it; none when no try fits.

    Optional members are left out. The same schema gives the same values.
    """
    compiled = validator(schema)
    digits: list[int] | None = []
    for _ in range(most):
        if digits is None:
            return
        choices = Counted(digits)
        maker = Maker(schema, choices, _LEAST, Seeded(""))
        with suppress(Contradiction, RecursionError):
            value = maker.value(schema, "", 0, ABSENT)
            if compiled.is_valid(value):
                yield value
        digits = choices.following()
