"""Names that both sides of a wall must spell alike, each written once."""

from __future__ import annotations

CLOSE_RUN = "coordinator.close-run/v1"
"""Local or remote activity: the closing write of an execution."""

OPEN_WAIT = "coordinator.open-wait/v1"
"""Local or remote activity: write that a wait opened, before the run goes idle."""

REQUEST_CANCEL = "coordinator.request-cancel/v1"
"""Local or remote activity: write down a cancel that came from Temporal itself."""

RESOLVE_EFFECT = "coordinator.resolve-effect/v1"
"""Activity: classify an effect from the ledger when its activity gave no reply."""

HINT_SIGNAL = "coordinator.hint"
"""Signal without content: look again at what is waited for."""

GO_REMOTE = "go-remote"
"""Error type of a local attempt that leaves the call to a remote activity."""

NOT_YET = "not-yet"
"""Error type of a poll that found nothing; retried at its own interval."""

BUSY = "busy"
"""Error type of an attempt that met another one's live lease."""

HELD = "held"
"""Error type of an attempt that a hold keeps from sending; retried until it is released."""

NOT_ADMITTED = "not-admitted"
"""Failure type of an execution that the ledger did not admit."""
