"""The kinds of authorization that need no issuer: none, anonymous, a token that others keep."""

from __future__ import annotations

from dataclasses import dataclass, field

from activities.credentials.attempt import Attempt, ReadSecret, read_or_unavailable
from activities.credentials.faults import CredentialUnavailable
from activities.credentials.masking import Secret


@dataclass(frozen=True, slots=True)
class Anonymous:
    """Sends no ``Authorization`` header.

    ``public`` is said of a service that is meant for everybody; otherwise an anonymous call leads
    to this machine alone. A pretended product ``takes_grants`` as they come.
    """

    public: bool = False
    takes_grants: bool = False

    @property
    def for_tasks(self) -> bool | None:
        """False, or None for a pretended product."""
        return None if self.takes_grants else False

    @property
    def loopback_only(self) -> bool:
        """True unless the service is for everybody."""
        return not self.public

    async def header(self, _attempt: Attempt) -> Secret | None:
        """None."""
        return None

    async def rehearse(self) -> None:
        """There is nothing to read."""


@dataclass(frozen=True, slots=True)
class BearerToken:
    """A static token, read at each attempt so that a rotated one is used at once."""

    connection: str
    read: ReadSecret = field(repr=False)

    @property
    def for_tasks(self) -> bool:
        """False."""
        return False

    @property
    def loopback_only(self) -> bool:
        """False."""
        return False

    async def header(self, _attempt: Attempt) -> Secret | None:
        """``Bearer`` and the token; CredentialUnavailable when it can not be read or sent."""
        return bearer(await read_or_unavailable(self.read, self.connection), self.connection)

    async def rehearse(self) -> None:
        """Read the token; the same error."""
        bearer(await read_or_unavailable(self.read, self.connection), self.connection)


def bearer(token: Secret, connection: str) -> Secret:
    """``Bearer`` and a token; CredentialUnavailable unless the token is visible ASCII."""
    text = token.reveal()
    if not text or not all("!" <= letter <= "~" for letter in text):
        raise CredentialUnavailable(
            "connection.credential",
            "the token is not visible ASCII",
            place=connection,
            remedy="write the token alone, without blanks",
        )
    return Secret(f"Bearer {text}")
