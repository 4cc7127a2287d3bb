"""Why a case could not be played to its end."""

from __future__ import annotations

from typing import Final

from interpreter.contract.values import JsonValue
from interpreter.errors import InterpreterError
from interpreter.scenario.trace import Trace

ABSENT: Final = object()
"""Nothing stands on this side of a comparison."""


class CaseFault(InterpreterError):
    """A case that contradicts the workflow; ``place`` is a JSON pointer into the case.

    ``actual`` is what the run had where the case says something else, ``ABSENT`` if that is told
    by the message alone. ``trace`` is how far the run had come, None if it had not begun.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        place: str = "",
        remedy: str = "",
        actual: JsonValue = ABSENT,
    ) -> None:
        super().__init__(code, message, place=place, remedy=remedy)
        self.actual = actual
        self.trace: Trace | None = None
