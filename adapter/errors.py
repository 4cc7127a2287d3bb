"""The errors of this room, with their exit codes and HTTP statuses.

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
