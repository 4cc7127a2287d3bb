"""The one error of the embedded servers, with every code it can carry.

EmbeddedError (an `Unavailable`: exit 3)
    embedded.not-installed          a server program is missing from this environment
    embedded.port-taken             the port asked for is in use
    embedded.in-use                 another process works on the same data
    embedded.directory-unusable     a folder can not be made, read or written
    embedded.did-not-start          a server ended, or stayed silent, before it was ready
    embedded.no-account             root has no other account to run PostgreSQL as
    embedded.command-failed         a server's own tool reported a failure
"""

from __future__ import annotations

from adapter.errors import Unavailable

__all__ = ["EmbeddedError"]


class EmbeddedError(Unavailable):
    """A server of this machine could not be started or used; it never holds a password."""

    def __init__(self, code: str, message: str, remedy: str, *, place: object) -> None:
        super().__init__(code, message, place=str(place), remedy=remedy)
