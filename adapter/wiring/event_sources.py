"""Whose signed messages a deployment takes: secrets of the runtime file as verifiers."""

from __future__ import annotations

from standardwebhooks.webhooks import Webhook

from adapter.api import EventSource, webhook_of
from adapter.config.loading import Runtime
from adapter.errors import Usage


def completion_verifiers(runtime: Runtime) -> dict[str, Webhook]:
    """Product -> verifier of its completion events; Usage ``events.secret-invalid``."""
    products = runtime.document.events.completions
    return {name: _verifier(runtime, part.secret_ref) for name, part in products.items()}


def event_sources(runtime: Runtime) -> list[EventSource]:
    """The senders whose events may admit runs.

    Raises Usage ``events.secret-invalid``, or ``events.secret-shared`` where two senders have one
    secret: who signed an event says whose it is.
    """
    found: list[EventSource] = []
    owners: dict[str, str] = {}
    for name, part in runtime.document.events.sources.items():
        secret = runtime.secrets.secret(part.secret_ref).reveal()
        if secret in owners:
            raise Usage(
                "events.secret-shared",
                "two senders of events have the same secret",
                place=part.secret_ref,
                remedy="give every sender a secret of its own",
            )
        owners[secret] = name
        workflows = None if "*" in part.workflows else frozenset(part.workflows)
        verifier = _verifier(runtime, part.secret_ref)
        found.append(EventSource(name, part.source, workflows, verifier))
    return found


def _verifier(runtime: Runtime, reference: str) -> Webhook:
    try:
        return webhook_of(runtime.secrets.secret(reference).reveal())
    except ValueError as error:
        raise Usage(
            "events.secret-invalid",
            "the secret is not of the form of a webhook secret",
            place=reference,
            remedy="write whsec_ followed by base64 of 24 random bytes or more",
        ) from error
