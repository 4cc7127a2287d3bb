"""The errors of this room, with their exit codes and HTTP statuses, and how programs tell them.

CoordinatorError
└── AdapterError
    ├── Refused        the request can not be granted as it stands     exit 1, HTTP ``status``
    ├── Usage          a wrong flag, file or value of the command line  exit 2, HTTP 400
    └── Unavailable    something that is needed does not answer         exit 3, HTTP 503
"""

from __future__ import annotations

from interpreter.errors import CoordinatorError


class AdapterError(CoordinatorError):
    """The base of this room's errors; ``exit_code`` is for commands, ``status`` for HTTP."""

    exit_code = 1
    status = 409


class Refused(AdapterError):
    """The request can not be granted as it stands; ``status`` is 4xx."""

    def __init__(
        self, code: str, message: str, *, place: str = "", remedy: str = "", status: int = 409
    ) -> None:
        super().__init__(code, message, place=place, remedy=remedy)
        self.status = status


class Usage(AdapterError):
    """A wrong flag, file or value of the command line."""

    exit_code = 2
    status = 400


class Unavailable(AdapterError):
    """Something that is needed does not answer; nothing is known to be lost."""

    exit_code = 3
    status = 503


def told(error: CoordinatorError) -> str:
    """An error as lines for a person: code, place, message and remedy."""
    where = f"{error.place}: " if error.place else ""
    remedy = f"  remedy: {error.remedy}\n" if error.remedy else ""
    return f"error[{error.code}]: {where}{error.message}\n{remedy}"


def exit_code_of(error: CoordinatorError) -> int:
    """The exit code of a program that an error has ended."""
    return error.exit_code if isinstance(error, AdapterError) else 1
