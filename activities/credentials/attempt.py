"""One attempt to be authorised: what a kind of authorization may ask of the world."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from activities.credentials.faults import CredentialUnavailable
from activities.credentials.masking import Secret
from interpreter.contract.values import JsonValue
from interpreter.errors import CoordinatorError

ReadSecret = Callable[[], Awaitable[Secret]]
"""Reads a secret as it is now; whatever CoordinatorError it raises is before sending."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_LATEST = 2**53


@dataclass(frozen=True, slots=True)
class Grant:
    """A task's grant as an input carries it: its id, and when it ends in seconds since 1970."""

    id: str
    expires_at: int


def read_grant(written: JsonValue) -> Grant | None:
    """The grant ``{id, expiresAt}`` of an input; None for anything else (contract 5.2)."""
    if not isinstance(written, dict) or set(written) != {"id", "expiresAt"}:
        return None
    id, expires_at = written["id"], written["expiresAt"]
    if not isinstance(id, str) or not _UUID.fullmatch(id):
        return None
    if not isinstance(expires_at, int) or isinstance(expires_at, bool):
        return None
    return Grant(id, expires_at) if 0 <= expires_at <= _LATEST else None


@dataclass(frozen=True, slots=True)
class PostAnswer:
    """A whole answer; ``body`` is None when it was larger than the limit.

    ``retry_after`` is the delay in seconds that it asks for.
    """

    status: int
    content_type: str
    body: bytes | None = field(repr=False)
    retry_after: float | None = None


class Post(Protocol):
    """Sends one POST through the guarded transport, within what is left of the attempt.

    No redirect is followed. Gives None when no whole answer came, for whatever reason. Raises
    CredentialRefused when the address may not be called.
    """

    async def __call__(
        self, url: str, body: bytes, headers: tuple[tuple[str, str], ...]
    ) -> PostAnswer | None:
        """The answer, or None."""
        ...


@dataclass(frozen=True, slots=True)
class Attempt:
    """The attempt that wants a credential; ``grant`` is of its input, None where it has none."""

    post: Post
    grant: Grant | None = None


class Authorization(Protocol):
    """How a connection authorises its calls.

    ``loopback_only`` says that the identity is good for a numeric loopback address alone.
    """

    @property
    def for_tasks(self) -> bool | None:
        """Whether calls are done for a task, so that each carries a grant; None if either may."""
        ...

    @property
    def loopback_only(self) -> bool:
        """Whether nothing proves who calls, so that the product is on this machine."""
        ...

    async def header(self, attempt: Attempt) -> Secret | None:
        """The ``Authorization`` header of this attempt alone, or None for a call without one.

        Raises CredentialUnavailable, CredentialRefused or CredentialUnusable.
        """
        ...

    async def rehearse(self) -> None:
        """Read what the identity is made of and check its form, without asking anybody.

        Raises CredentialUnavailable or CredentialUnusable.
        """
        ...


async def read_or_unavailable(read: ReadSecret, connection: str) -> Secret:
    """The secret; CredentialUnavailable with the reader's remedy when it can not be read."""
    try:
        return await read()
    except CoordinatorError as error:
        raise CredentialUnavailable(
            "connection.credential",
            "a secret of the connection can not be read",
            place=connection,
            remedy=error.remedy,
        ) from error
