"""What production's ledger decides about one effect, on a virtual clock.

The same rules as the ledger's own (protocol rules 2 and 7), which a test holds against each other:
attempts, back-off, doubt after an unanswered send, permission, receipt windows.
"""

from __future__ import annotations

from dataclasses import dataclass

from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.operations import EffectClass, OperationContract, Recovery
from interpreter.definition.nodes import Policy

SKEW_MS = 5_000
"""How far the clocks of database, worker and product may be apart."""

ANY_REFUSAL = "*"
"""In a contract's refusals: the product may declare refusals of any code."""

ACCEPTED = "accepted"
UNKNOWN = "unknown"
NOT_APPLIED = "not-applied"

_UNCERTAIN = frozenset({ReplyKind.UNKNOWN, ReplyKind.RECEIPT_EXPIRED})


@dataclass(frozen=True, slots=True)
class Limits:
    """Attempt limits of an effect; times in milliseconds."""

    attempts: int
    send_budget: int
    delay: float
    growth: float
    longest_delay: float

    def pause(self, failed: int) -> int:
        """How long to wait after ``failed`` attempts (at least 1)."""
        return round(min(self.delay * self.growth ** (failed - 1), self.longest_delay))


def limits_of(policy: Policy, contract: OperationContract) -> Limits:
    """The limits of a node: its policy's members over the contract's."""
    own = contract.attempts
    seconds = policy.attempt_timeout_seconds
    delay = policy.retry_delay_seconds
    return Limits(
        attempts=own.limit if policy.attempts is None else policy.attempts,
        send_budget=own.timeout_milliseconds if seconds is None else round(seconds * 1000),
        delay=1000 * (own.delay_seconds if delay is None else delay),
        growth=own.growth if policy.retry_growth is None else policy.retry_growth,
        longest_delay=1000 * own.longest_delay_seconds,
    )


@dataclass(frozen=True, slots=True)
class Again:
    """The attempt is over and applied nothing; the next one follows after ``pause_ms``."""

    pause_ms: int


@dataclass(slots=True)
class Effect:
    """One effect: its contract, and what its attempts have come to.

    ``failed`` counts the retryable answers of this generation, ``unresolved`` the attempts that
    may have been applied. ``standing`` is None before the first send; ``expired`` says that the
    product no longer proves what became of it.
    """

    contract: OperationContract
    limits: Limits
    failed: int = 0
    unresolved: int = 0
    first_sent_ms: int | None = None
    standing: str | None = None
    expired: bool = False

    @property
    def reads(self) -> bool:
        """True when it changes nothing and asks nobody."""
        return self.contract.effect is EffectClass.READ

    def claim(self, now_ms: int, forbidden: str) -> Reply | None:
        """The reply that stands in for a send that may not happen; None lets it happen.

        ``forbidden`` is ``deadline`` or ``cancel`` when the run has lost its permission.
        """
        in_doubt = self.unresolved > 0 and not self.reads
        if forbidden and not in_doubt:
            return Reply(ReplyKind.NOT_PERMITTED, code=forbidden)
        if in_doubt and (forbidden or self.contract.recovery is Recovery.HOLD_AFTER_DISPATCH):
            return Reply(ReplyKind.UNKNOWN, code="lease-lapsed")
        if self.window_over(now_ms):
            self.expired = in_doubt
            kind = ReplyKind.RECEIPT_EXPIRED if in_doubt else ReplyKind.REFUSED
            return Reply(kind, code="receipt-expired")
        return None

    def window_over(self, now_ms: int) -> bool:
        """True when the product may have forgotten the key of the first send (protocol rule 7)."""
        window, first = self.contract.receipt_window_seconds, self.first_sent_ms
        if window is None or first is None or self.reads:
            return False
        return now_ms + self.limits.send_budget + SKEW_MS > first + window * 1000

    def sent(self, now_ms: int) -> None:
        """An attempt was dispatched: until it is answered, it may have been applied."""
        if self.first_sent_ms is None:
            self.first_sent_ms = now_ms
        self.standing = UNKNOWN

    def settle(
        self, reply: Reply, retry_after_ms: int | None, now_ms: int, deadline_ms: int
    ) -> Reply | Again:
        """What an answer makes of the effect: its reply, or another attempt later."""
        if reply.kind is ReplyKind.ACCEPTED:
            self.accept()
            return reply
        if reply.kind in _UNCERTAIN and not self.reads:
            self.unresolved += 1
            self.expired = reply.kind is ReplyKind.RECEIPT_EXPIRED
            return reply
        if self.unresolved and not self.reads:
            # A negative answer clears its own send only: an earlier one may still be applied.
            return Reply(ReplyKind.UNKNOWN, code=reply.code)
        self.standing = NOT_APPLIED
        if reply.kind is ReplyKind.RETRYABLE or reply.kind in _UNCERTAIN:
            return self._retryable(reply.code, retry_after_ms, now_ms, deadline_ms)
        return reply

    def _retryable(
        self, code: str, retry_after_ms: int | None, now_ms: int, deadline_ms: int
    ) -> Reply | Again:
        self.failed += 1
        if self.failed >= self.limits.attempts:
            return Reply(ReplyKind.RETRYABLE, code=code)
        pause = self.limits.pause(self.failed) if retry_after_ms is None else retry_after_ms
        if now_ms + pause >= deadline_ms:
            return Reply(ReplyKind.NOT_PERMITTED, code="deadline")
        return Again(pause)

    def unrepeatable(self, now_ms: int) -> str:
        """Why an operator may not send the saved command again, or an empty string."""
        if self.expired or self.window_over(now_ms):
            return "the product no longer keeps the key of the first send"
        if self.contract.effect is EffectClass.EVALUATION:
            return "an evaluation that may have been sent is never repeated"
        if self.contract.recovery is Recovery.HOLD_AFTER_DISPATCH:
            return "the operation does not promise that its command may be repeated"
        return ""

    def accept(self) -> None:
        """The product holds the effect: by its answer, or by a receipt found later."""
        self.unresolved = 0
        self.standing = ACCEPTED

    def renew(self) -> None:
        """An operator asked for the saved command again: its attempts are counted anew."""
        self.failed = 0
