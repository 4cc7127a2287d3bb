"""The errors of calls and catalogues.

CoordinatorError
└── ActivityError
    ├── CatalogueError     a catalogue document or operation id that can not be used
    ├── ConnectionFault    a connection whose settings do not serve the operation
    └── LedgerUnavailable  the ledger did not answer; whether it wrote is not known
"""

from __future__ import annotations

from interpreter.errors import CoordinatorError


class ActivityError(CoordinatorError):
    """The base of this room's errors."""


class CatalogueError(ActivityError):
    """A catalogue document or operation id that can not be used."""


class ConnectionFault(ActivityError):
    """A connection whose settings do not serve the operation."""


class LedgerUnavailable(ActivityError):
    """The ledger did not answer; whether it wrote is not known."""
