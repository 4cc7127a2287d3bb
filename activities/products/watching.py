"""Who looks on at calls: what a call shows of itself, which is never a value."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class WatchedCall(Protocol):
    """One call that is looked on at."""

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """What every request of the call carries, so that the product can go on with a trace."""
        ...

    def ended(self, kind: str) -> None:
        """The class of the call's reply, as in ``ReplyKind``."""
        ...


class CallWatch(Protocol):
    """Looks on at calls; it learns their operation, connection, duration and class."""

    def call(self, operation: str, connection: str) -> AbstractContextManager[WatchedCall]:
        """A call that begins now and ends with the context."""
        ...


class Nobody:
    """Looks on at nothing."""

    headers = ()

    def call(self, operation: str, connection: str) -> AbstractContextManager[WatchedCall]:
        """A context without effect."""
        return nullcontext(self)

    def ended(self, kind: str) -> None:
        """Nothing to note."""
