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

RECONCILE_EFFECT = "coordinator.reconcile-effect/v1"
"""Activity: settle an unknown effect by the product's receipt; it never sends the command."""

RECONCILE_WORKFLOW = "coordinator.reconcile/v1"
"""Workflow type of one pass of the reconciler; its schedule starts one after the other."""

RECONCILE_PASS = "coordinator.reconcile-pass/v1"
"""Activity: one pass of the reconciler over ledger and Temporal."""

RETRY_SAME = "coordinator.retry-same"
"""Update: send the saved command of an unknown effect again, as a new generation."""

RECONCILE = "coordinator.reconcile"
"""Update: read the product's receipt for an unknown effect."""

NOTE_SIGNAL = "coordinator.note-signal/v1"
"""Local activity: write down that a signal from Temporal's own tools was of no use."""

END_WAIT = "coordinator.end-wait/v1"
"""Local or remote activity: end a signal wait in the ledger, by a signal on record or by time."""

RESERVED_PREFIX = "coordinator."
"""Signals and updates whose names begin so are the coordinator's own."""

SIGNAL = "coordinator.signal"
"""Update: take a signal that is on record in the ledger."""

HINT_SIGNAL = "coordinator.hint"
"""Signal without content: look again at what is waited for."""

HAND_OVER_SIGNAL = "coordinator.hand-over"
"""Signal without content: continue as new, on the current build, once no attempt is out."""

GO_REMOTE = "go-remote"
"""Error type of a local attempt that leaves the call to a remote activity."""

RETRYABLE = "retryable"
"""Error type of an attempt after which nothing was applied; retried after a pause."""

NOT_YET = "not-yet"
"""Error type of a poll that found nothing; retried at its own interval."""

BUSY = "busy"
"""Error type of an attempt that met another one's live lease."""

HELD = "held"
"""Error type of an attempt that a hold keeps from sending; retried until it is released."""

NOT_ADMITTED = "not-admitted"
"""Failure type of an execution that the ledger did not admit."""

NOT_READY = "not-ready"
"""Failure type of an update that comes while an execution can not take it; it is sent again."""

NOT_IN_ATTENTION = "not-in-attention"
"""Failure type of an operator's act on an effect that is not unknown (any more)."""
