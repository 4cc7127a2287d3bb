"""The limits of the language's profile by name, for whoever tells an author about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from interpreter.language import bounds
from interpreter.language.parsing.settings import MAXIMUM_DEPTH
from interpreter.language.running.run import MAXIMUM_LEVEL, MAXIMUM_OPERATIONS
from interpreter.language.values import MAXIMUM_ARRAY, MAXIMUM_MAP, MAXIMUM_STRING

LANGUAGE_LIMITS: Final[Mapping[str, int]] = {
    "operations": MAXIMUM_OPERATIONS,
    "callLevels": MAXIMUM_LEVEL,
    "expressionDepth": MAXIMUM_DEPTH,
    "stringBytes": MAXIMUM_STRING,
    "arrayItems": MAXIMUM_ARRAY,
    "mapEntries": MAXIMUM_MAP,
    "jsonBytes": bounds.MAXIMUM_CANONICAL,
    "jsonDepth": bounds.MAXIMUM_DEPTH,
    "jsonNodes": bounds.MAXIMUM_NODES,
    "modules": 0,
}
"""``operations`` and ``callLevels`` bound one call of a function; the ``json`` members bound each
value that goes into a function or comes out."""
