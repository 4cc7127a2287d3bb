"""How a call is refused before it reaches a route: codes, and the headers that go along."""

from __future__ import annotations

import math

from adapter.errors import Refused

REALM = "coordinator"
RETRY_SECONDS = 5
"""What a caller is told to wait when something that is needed does not answer."""


class CallRefused(Refused):
    """A refusal that tells more in its ``headers``."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int,
        place: str = "",
        remedy: str = "",
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(code, message, place=place, remedy=remedy, status=status)
        self.headers = headers


def unknown_caller(
    message: str, place: str, remedy: str, challenges: tuple[str, ...]
) -> CallRefused:
    """401 ``access.unauthenticated`` with a challenge for each way to say who calls."""
    return CallRefused(
        "access.unauthenticated",
        message,
        status=401,
        place=place,
        remedy=remedy,
        headers=tuple(("WWW-Authenticate", one) for one in challenges),
    )


def too_many(seconds: float, message: str) -> CallRefused:
    """429 ``access.too-many-requests``; ``seconds`` until the next one is taken."""
    return CallRefused(
        "access.too-many-requests",
        message,
        status=429,
        remedy="wait as long as Retry-After says",
        headers=(("Retry-After", str(max(1, math.ceil(seconds)))),),
    )
