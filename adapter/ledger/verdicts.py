"""What the ledger decides about an effect: pure functions of the locked run and its attempts.

The rules are protocol rules 2 (fencing), 3 (resolve) and 7 (permission, receipt windows).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from activities.ports import Busy, Limits, Retry
from adapter.ledger.entry import RunRow
from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.operations import EffectClass, OperationContract, Recovery
from interpreter.contract.values import JsonValue

SKEW_SECONDS: Final = 5.0
"""How far the clocks of database, worker and product may be apart."""

UNCERTAIN: Final = frozenset({ReplyKind.UNKNOWN, ReplyKind.RECEIPT_EXPIRED})

LAPSED: Final = "lease-lapsed"

RESTORED: Final = "older-than-restore"

# A hold is lifted again, and a closed run has counted its open effects when it was closed.
_FINAL_REASONS: Final = frozenset({"cancel", "deadline", "withdrawn"})


@dataclass(frozen=True, slots=True)
class EffectFacts:
    """One effect as it stands, seen by one attempt (its token) or by none.

    ``unresolved`` counts other attempts that may have been applied, ``later`` newer ones that may
    still answer, ``failed`` those that a product answered with a retryable code; ``lease_until`` is
    the latest lease without an answer, ``retry_at`` the end of the pause after an answer that asks
    for one. The own attempt is in none of them.
    """

    now: datetime
    uncertain_elsewhere: bool
    withdrawn: bool
    known: list[JsonValue]
    stored: bool
    after_cancel: bool
    sealed_command: bytes | None
    outcome: str | None
    code: str
    sealed_reply: bytes | None
    uncertain: bool
    attempts: int
    failed: int
    unresolved: int
    later: int
    lease_until: datetime | None
    first_dispatched_at: datetime | None
    own_attempt: int | None
    own_settled_as: str | None
    retry_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """The final reply on record answers."""


@dataclass(frozen=True, slots=True)
class Dispatch:
    """One more attempt may send."""

    unresolved: bool


@dataclass(frozen=True, slots=True)
class Declare:
    """The effect is settled without an answer: nobody can know, or the key is too old.

    Without ``uncertain`` nothing that was sent has been applied.
    """

    reply: Reply
    uncertain: bool


@dataclass(frozen=True, slots=True)
class Forbid:
    """Nothing may be sent now; nothing is stored either, since nothing was decided for good."""

    code: str


ClaimVerdict: TypeAlias = Stored | Busy | Dispatch | Declare | Forbid


def forbidden(run: RunRow, now: datetime, *, withdrawn: bool, after_cancel: bool) -> str:
    """Why nothing may be sent for this run now, or an empty string (protocol rule 7)."""
    if run.closed:
        return "run-closed"
    if run.held:
        return "hold"
    if run.cancel_requested_at is not None and not after_cancel:
        return "cancel"
    if now >= run.deadline_at:
        return "deadline"
    return "withdrawn" if withdrawn else ""


def predates(run: RunRow, facts: EffectFacts, asked_at: datetime | None) -> bool:
    """True when an effect without an outcome proves nothing: its call is older than this epoch.

    What the ledger held before a restore may have been lost with it, the effect itself or its
    latest attempts (protocol rule 9).
    """
    epoch = run.epoch_started_at
    if facts.outcome is not None or asked_at is None or epoch is None:
        return False
    return asked_at < epoch


def claim_verdict(
    run: RunRow,
    facts: EffectFacts,
    contract: OperationContract,
    send_budget: float,
    *,
    after_cancel: bool,
    asked_at: datetime | None = None,
    keeps_pause: bool = False,
) -> ClaimVerdict:
    """Whether an attempt may send, and if not what it is answered."""
    if facts.outcome is not None:
        return Stored()
    if facts.lease_until is not None and facts.lease_until > facts.now:
        return Busy((facts.lease_until - facts.now).total_seconds())
    lost = predates(run, facts, asked_at)
    in_doubt = (facts.unresolved > 0 or lost) and contract.effect is not EffectClass.READ
    reason = forbidden(run, facts.now, withdrawn=facts.withdrawn, after_cancel=after_cancel)
    if reason and not (in_doubt and reason in _FINAL_REASONS):
        return Forbid(reason)
    # An end of permission must not read as "not sent" where something may have been sent.
    if in_doubt and (lost or reason or contract.recovery is Recovery.HOLD_AFTER_DISPATCH):
        code = LAPSED if facts.unresolved else RESTORED
        return Declare(Reply(ReplyKind.UNKNOWN, code=code), uncertain=True)
    if window_over(facts, contract, send_budget):
        # Where every send was answered as not applied, it was not, though none may follow.
        kind = ReplyKind.RECEIPT_EXPIRED if in_doubt else ReplyKind.REFUSED
        return Declare(Reply(kind, code="receipt-expired"), in_doubt)
    if keeps_pause and facts.retry_at is not None and facts.retry_at > facts.now:
        return Busy((facts.retry_at - facts.now).total_seconds())
    return Dispatch(in_doubt)


def window_over(facts: EffectFacts, contract: OperationContract, send_budget: float) -> bool:
    """True when a resend could end after the product has forgotten the key (protocol rule 7)."""
    window, first = contract.receipt_window_seconds, facts.first_dispatched_at
    if window is None or first is None or contract.effect is EffectClass.READ:
        return False
    ready = facts.now + timedelta(seconds=send_budget + SKEW_SECONDS)
    return ready > first + timedelta(seconds=window)


@dataclass(frozen=True, slots=True)
class Conclude:
    """The effect has this reply now; ``uncertain`` when the product may hold more than it says."""

    reply: Reply
    uncertain: bool


@dataclass(frozen=True, slots=True)
class Pass:
    """The attempt is settled, the effect stays open: this reply is for the attempt alone."""

    reply: Reply


SettleVerdict: TypeAlias = Stored | Conclude | Retry | Pass


def settle_verdict(
    run: RunRow,
    facts: EffectFacts,
    contract: OperationContract,
    limits: Limits,
    reply: Reply,
    retry_after: float | None,
) -> SettleVerdict:
    """What an answer makes of its effect, under the fencing rules (protocol rule 2)."""
    if facts.outcome is not None and not facts.uncertain:
        return Stored()
    if reply.kind is ReplyKind.ACCEPTED:
        return Conclude(reply, uncertain=False)
    is_read = contract.effect is EffectClass.READ
    if reply.kind in UNCERTAIN and not is_read:
        return Stored() if facts.outcome else Conclude(reply, uncertain=True)
    if facts.unresolved and not is_read:
        # A negative answer clears its own token only: an earlier send may still be applied.
        doubt = Reply(ReplyKind.UNKNOWN, code=reply.code)
        return Stored() if facts.outcome else Conclude(doubt, uncertain=True)
    if facts.later and not is_read:
        # The newer attempt decides; this one only says that it did not apply anything itself.
        return Stored() if facts.outcome else Retry(limits.delay, reply.code)
    if reply.kind is ReplyKind.RETRYABLE or reply.kind in UNCERTAIN:
        return _retryable(run, facts, limits, reply, retry_after)
    return Conclude(reply, uncertain=False)


def _retryable(
    run: RunRow, facts: EffectFacts, limits: Limits, reply: Reply, retry_after: float | None
) -> Conclude | Retry | Pass:
    failed = facts.failed + 1
    if facts.outcome is not None or failed >= limits.attempts:
        return Conclude(Reply(ReplyKind.RETRYABLE, code=reply.code), uncertain=False)
    delay = backoff(limits, failed) if retry_after is None else retry_after
    if facts.now + timedelta(seconds=delay) >= run.deadline_at:
        return Pass(Reply(ReplyKind.NOT_PERMITTED, code="deadline"))
    return Retry(delay, reply.code)


def backoff(limits: Limits, failed: int) -> float:
    """Seconds before the next attempt after ``failed`` ones (at least 1)."""
    return float(min(limits.delay * limits.growth ** (failed - 1), limits.longest_delay))
