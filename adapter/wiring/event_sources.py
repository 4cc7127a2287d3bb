"""Whose signed messages a deployment takes: secrets of the runtime file as verifiers."""

from __future__ import annotations

from dataclasses import dataclass, field

from standardwebhooks.webhooks import Webhook

from adapter.api import EventSource, webhook_key, webhook_of
from adapter.config.loading import Runtime
from adapter.errors import Usage


@dataclass(frozen=True, slots=True)
class Senders:
    """Product -> verifier of its completion events, and whose events may admit runs."""

    completions: dict[str, Webhook]
    sources: list[EventSource]


def senders_of(runtime: Runtime) -> Senders:
    """Who may sign messages to this deployment.

    Raises Usage ``events.secret-invalid``, or ``events.secret-shared`` where two senders have one
    secret: who signed a message says whose it is.
    """
    verifiers = _Verifiers(runtime)
    events = runtime.document.events
    return Senders(
        {name: verifiers.of(part.secret_ref) for name, part in events.completions.items()},
        [
            EventSource(
                name,
                part.source,
                None if "*" in part.workflows else frozenset(part.workflows),
                verifiers.of(part.secret_ref),
            )
            for name, part in events.sources.items()
        ],
    )


@dataclass(slots=True)
class _Verifiers:
    """Verifiers of secrets, each of which has one owner."""

    runtime: Runtime
    _known: set[bytes] = field(default_factory=set, repr=False)

    def of(self, reference: str) -> Webhook:
        secret = self.runtime.secrets.secret(reference).reveal()
        try:
            key, verifier = webhook_key(secret), webhook_of(secret)
        except ValueError as error:
            raise Usage(
                "events.secret-invalid",
                "the secret is not of the form of a webhook secret",
                place=reference,
                remedy="write whsec_ followed by base64 of 24 random bytes or more",
            ) from error
        if key in self._known:
            raise Usage(
                "events.secret-shared",
                "two senders of events have the same secret",
                place=reference,
                remedy="give every sender a secret of its own",
            )
        self._known.add(key)
        return verifier
