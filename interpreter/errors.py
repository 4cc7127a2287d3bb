"""The one shape of every error that reaches a person or a program.

CoordinatorError
└── InterpreterError
    ├── DefinitionError     a definition that can not be read or is not what its revision says
    ├── MachineError        an event that the present state can not take
    └── MappingError        a mapping that gives no usable value at run time
"""

from __future__ import annotations


class CoordinatorError(Exception):
    """An error with a stable code, the place it is about and what to do next.

    ``code`` is dotted and lower case (``revision.not-active``), ``place`` names a file, pointer,
    step or id and never a value, ``remedy`` is one sentence.
    """

    def __init__(self, code: str, message: str, *, place: str = "", remedy: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.place = place
        self.remedy = remedy

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        then = f" ({self.remedy})" if self.remedy else ""
        return f"{where}{self.message} [{self.code}]{then}"


class InterpreterError(CoordinatorError):
    """The base of this room's errors."""


class DefinitionError(InterpreterError):
    """A definition that can not be read, or whose bytes are not those of its revision."""


class MachineError(InterpreterError):
    """An event that the present state can not take."""


class MappingError(InterpreterError):
    """A mapping that gives no usable value at run time; ``place`` names node and role."""
