"""The errors of the language: what can not be compiled, what failed, what is too large.

LanguageError
├── CompileError       the source is no program of the profile
├── EvaluationError    a call gave no value: input, resource, execution or output
└── ValueLimit         a JSON value is outside the bounds of contract 3.3
"""

from __future__ import annotations

from typing import Literal

FailureKind = Literal["input", "resource", "execution", "output"]


class LanguageError(Exception):
    """The base of every error that the language raises; ``message`` names no value of the data."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class PlacedError(LanguageError):
    """An error with a place in the source.

    ``line`` and ``column`` count from 1. The language defines no place for some errors (a missing
    function, a limit that was reached, an integer overflow inside an expression): both are None
    then. A column alone is None when the error lies before the first character of a line.
    """

    def __init__(self, message: str, line: int | None, column: int | None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column

    def __str__(self) -> str:
        if self.line is None:
            return self.message
        return f"{self.message} (line {self.line}, column {self.column or 0})"


class CompileError(PlacedError):
    """The source breaks a rule of the language or uses something that the profile leaves out."""


class EvaluationError(PlacedError):
    """A call of a compiled function gave no value.

    ``kind``: ``input`` an argument is no JSON value; ``resource`` a limit of the profile was
    reached; ``execution`` the function failed or threw; ``output`` its value is no JSON value.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        line: int | None = None,
        column: int | None = None,
        *,
        type_name: str | None = None,
    ) -> None:
        super().__init__(message, line, column)
        self.kind: FailureKind = kind
        self.type_name = type_name


class ValueLimit(LanguageError):
    """A JSON value is deeper, wider or longer than contract 3.3 allows."""
