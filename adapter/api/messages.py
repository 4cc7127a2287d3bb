"""What comes from outside for runs: signed messages, events and signals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from standardwebhooks.webhooks import Webhook

from interpreter.contract.values import JsonValue


@dataclass(frozen=True, slots=True)
class SignedMessage:
    """A message whose signature holds: whose it is, its id, when it was signed, its digest.

    ``signed_at`` is in epoch seconds, ``content`` the SHA-256 of its bytes.
    """

    source: str
    id: str
    signed_at: int
    content: str


@dataclass(frozen=True, slots=True)
class EventSource:
    """A product whose events may admit runs: its name here, and the ``source`` of its events.

    ``workflows`` None means every workflow.
    """

    name: str
    uri: str
    workflows: frozenset[str] | None
    verifier: Webhook

    def covers(self, workflow: str) -> bool:
        """Whether its events may admit runs of this workflow."""
        return self.workflows is None or workflow in self.workflows


@dataclass(frozen=True, slots=True)
class CloudEvent:
    """What a trigger looks at of an event; ``subject`` is empty where it has none."""

    id: str
    source: str
    type: str
    subject: str
    data: JsonValue


@dataclass(frozen=True, slots=True)
class EventRequest:
    """A signed event that was sent to a workflow's trigger; ``source`` is the sender's name."""

    source: str
    workflow: str
    trigger: str
    event: CloudEvent


@dataclass(frozen=True, slots=True)
class SignalWish:
    """A signal for a run; ``key`` makes it repeatable within its run and name."""

    name: str
    actor: str
    key: str
    payload: JsonValue


@dataclass(frozen=True, slots=True)
class SignalView:
    """A signal as it stands.

    ``outcome`` is empty while it is not known, then ``completed``, ``kept``, ``late`` or
    ``too-many``; ``wait`` is the one that took it.
    """

    id: str
    name: str
    outcome: str
    wait: str
    run_closed: bool
    recorded_at: datetime
    concluded_at: datetime | None = None


class SignalDesk(Protocol):
    """Signals for waits: on record first, then delivered, again and again until they are taken."""

    async def begin(self, run_id: str, wish: SignalWish) -> SignalView:
        """Write a signal down, or give the one that the same key began.

        Raises Refused ``signal.unknown`` (404), ``signal.invalid`` (422), ``signal.late``,
        ``signal.too-many`` or ``idempotency.key-reused`` (409).
        """
        ...

    async def carry_out(self, signal_id: str, seconds: float) -> SignalView:
        """Have the signal delivered, and wait some seconds for its outcome."""
        ...
