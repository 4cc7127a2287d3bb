"""How a connection authorises one attempt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from activities.credentials.faults import CredentialUnavailable
from activities.credentials.masking import Secret
from interpreter.errors import CoordinatorError


class Authorization(Protocol):
    """Gives the ``Authorization`` header of one attempt.

    A kind that talks to a token endpoint implements the same method: it is asynchronous, is
    called once for each attempt, and raises CredentialUnavailable or CredentialRefused.
    """

    async def header(self) -> Secret | None:
        """The header's value, or None for an anonymous call."""
        ...


class Anonymous:
    """Sends no ``Authorization`` header."""

    async def header(self) -> Secret | None:
        """None."""
        return None


class BearerToken:
    """A static token, read at each attempt so that a rotated one is used at once."""

    def __init__(self, read: Callable[[], str], connection: str) -> None:
        self._read = read
        self._connection = connection

    async def header(self) -> Secret | None:
        """``Bearer`` and the token; CredentialUnavailable when it can not be read or sent."""
        try:
            token = self._read()
        except CoordinatorError as error:
            raise self._unavailable("the token can not be read", error.remedy) from error
        if not token or not all("!" <= letter <= "~" for letter in token):
            raise self._unavailable(
                "the token is not visible ASCII", "write the token alone, without blanks"
            )
        return Secret(f"Bearer {token}")

    def _unavailable(self, message: str, remedy: str) -> CredentialUnavailable:
        return CredentialUnavailable(
            "connection.credential", message, place=self._connection, remedy=remedy
        )
