"""What the ledger decides about an operator's act: pure functions of the locked run and effect.

The preconditions come in one order, each with its own code; a status asks the same functions, so
that what it calls allowed is what an act is granted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from activities.ports import CallFacts
from adapter.errors import Refused
from adapter.ledger.entry import RunRow
from adapter.ledger.verdicts import EffectFacts, window_over
from interpreter.contract.effects import ReplyKind
from interpreter.contract.operations import EffectClass, Recovery
from interpreter.contract.records import RunState


class ActKind(StrEnum):
    """What an operator may do about a run."""

    RETRY_SAME = "retry-same"
    RECONCILE = "reconcile"
    CANCEL = "cancel"


class ActState(StrEnum):
    """How far an act has come; the last two are final."""

    RECORDED = "recorded"
    DELIVERED = "delivered"
    DONE = "done"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An effect that an act may be about; ``sequence`` is where a settled projection belongs."""

    now: datetime
    visit: str
    generation: int
    uncertain: bool
    effect: str
    settled_at: datetime | None
    sequence: int


@dataclass(frozen=True, slots=True)
class Subject:
    """The effect that an act is about: how it stands, and what its definition pins."""

    candidate: Candidate
    facts: EffectFacts
    pinned: CallFacts


@dataclass(frozen=True, slots=True)
class Progress:
    """An act and what became of the effect and the run that it is about."""

    kind: str
    state: str
    generation: int
    concluded: bool
    run_state: str
    effect_generation: int
    effect_outcome: str | None
    effect_code: str
    effect_uncertain: bool
    unknown_mutation: bool


def chosen(
    kind: ActKind, run: RunRow, candidates: Sequence[Candidate], named: str
) -> Candidate | None:
    """The effect that an act is about, or None where there is none in doubt.

    Without a name it is the only one in doubt; a reconcile of a run that stands in attention
    without any brings the latest answer to its execution. Refused ``act.effect-unknown`` or
    ``act.effect-ambiguous``.
    """
    if named:
        for candidate in candidates:
            if candidate.visit == named:
                return candidate
        raise refusal("act.effect-unknown")
    in_doubt = [candidate for candidate in candidates if candidate.uncertain]
    if len(in_doubt) > 1:
        raise refusal("act.effect-ambiguous")
    if in_doubt:
        return in_doubt[0]
    late = kind is ActKind.RECONCILE and run.state == RunState.ATTENTION
    return candidates[0] if late and candidates else None


def cancel_refusal(run: RunRow) -> str:
    """Why a run can not be cancelled, or an empty string."""
    return "act.closed" if run.closed else ""


def retry_refusal(run: RunRow, now: datetime, subject: Subject | None) -> str:
    """Why the saved command may not be sent again, or an empty string; the first reason counts."""
    if run.closed:
        return "act.closed"
    early = "" if subject is None else _spoiled(subject)
    if early:
        return early
    if now >= run.deadline_at:
        return "act.deadline-reached"
    if run.state == RunState.RECOVERY_REQUIRED:
        return "act.recovery-required"
    after_cancel = subject is not None and subject.facts.after_cancel
    if run.cancel_requested_at is not None and not after_cancel:
        return "act.cancelled"
    if run.held:
        return "act.held"
    return "act.not-uncertain" if subject is None else _not_repeatable(subject)


def _spoiled(subject: Subject) -> str:
    facts, pinned = subject.facts, subject.pinned
    if not facts.sealed_command:
        return "act.payload-erased"
    expired = facts.outcome == ReplyKind.RECEIPT_EXPIRED
    if expired or window_over(facts, pinned.contract, pinned.limits.send_budget):
        return "act.receipt-expired"
    return ""


def _not_repeatable(subject: Subject) -> str:
    facts, contract = subject.facts, subject.pinned.contract
    if not facts.uncertain:
        return "act.not-uncertain"
    if contract.effect is EffectClass.EVALUATION:
        return "act.evaluation-uncertain"
    if contract.recovery is Recovery.HOLD_AFTER_DISPATCH:
        return "act.not-repeatable"
    if facts.withdrawn:
        return "act.withdrawn"
    return "act.busy" if _busy(facts) else ""


def reconcile_refusal(run: RunRow, subject: Subject | None) -> str:
    """Why no receipt can be read, or an empty string; deadline, cancel and hold do not matter."""
    if run.closed:
        return "act.closed"
    if subject is None:
        return "act.not-uncertain"
    facts = subject.facts
    if not facts.uncertain:
        # The ledger has the answer; what may still be needed is that the execution learns it.
        return "" if run.state == RunState.ATTENTION and facts.outcome else "act.not-uncertain"
    if not facts.sealed_command:
        return "act.payload-erased"
    if not subject.pinned.contract.receipt:
        return "act.no-receipt"
    return "act.busy" if _busy(facts) else ""


def _busy(facts: EffectFacts) -> bool:
    """True while a retry is under way or an attempt may still be sending."""
    sending = facts.lease_until is not None and facts.lease_until > facts.now
    return facts.outcome is None or sending


def conclusion(progress: Progress) -> tuple[str, str] | None:
    """An act's outcome and code as the ledger shows them, or None while nobody can know."""
    match progress.kind:
        case ActKind.RETRY_SAME:
            return _retry_conclusion(progress)
        case ActKind.RECONCILE:
            settled = progress.effect_outcome is not None and not progress.effect_uncertain
            told = progress.run_state != RunState.ATTENTION
            return ("confirmed", progress.effect_outcome or "") if settled and told else None
        case _:
            if RunState(progress.run_state).final:
                return progress.run_state, ""
            waits = progress.state == ActState.DELIVERED and progress.unknown_mutation
            return ("attention", "effect-unknown") if waits else None


def _retry_conclusion(progress: Progress) -> tuple[str, str] | None:
    if progress.effect_generation > progress.generation:
        return "unknown", "retried-again"
    if progress.effect_outcome is None:
        return None
    if progress.effect_uncertain:
        return "unknown", progress.effect_code
    if progress.effect_outcome == ReplyKind.ACCEPTED:
        return "accepted", ""
    return "not-applied", progress.effect_code


def refusal(code: str) -> Refused:
    """The refusal of a code: what is in the way, and what helps."""
    message, remedy = _WORDS[code]
    status = 404 if code == "act.effect-unknown" else 409
    place = "runId" if code in _OF_THE_RUN else "effect"
    return Refused(code, message, place=place, remedy=remedy, status=status)


_WORDS: dict[str, tuple[str, str]] = {
    "act.closed": ("the run is over", "read its outcome; nothing more can be done about it"),
    "act.effect-unknown": ("the run has no such effect", "use an id that inspect shows"),
    "act.effect-ambiguous": (
        "more than one effect of this run is unknown",
        "name the effect that the act is about",
    ),
    "act.payload-erased": (
        "retention has erased the saved command",
        "settle the matter with the product, then cancel the run",
    ),
    "act.receipt-expired": (
        "the product no longer keeps the key of the first send",
        "reconcile if the operation has a receipt; never start it again under a new key unseen",
    ),
    "act.deadline-reached": (
        "the run's deadline is over, so nothing more is sent",
        "reconcile: a receipt may still be read",
    ),
    "act.recovery-required": (
        "the run has lost its execution",
        "reset the execution in Temporal where it still is, or cancel the run: see docs/operate.md",
    ),
    "act.cancelled": (
        "the run is cancelled, so nothing more is sent",
        "reconcile: a receipt may still be read",
    ),
    "act.held": ("a hold keeps every effect from being sent", "release the hold first"),
    "act.evaluation-uncertain": (
        "an evaluation that may have been sent is never repeated",
        "cancel the run and start a new one",
    ),
    "act.not-repeatable": (
        "the operation does not promise that its command may be repeated",
        "reconcile if the operation has a receipt; settle the matter with the product otherwise",
    ),
    "act.withdrawn": (
        "the package of this run was withdrawn",
        "activate it again, or reconcile",
    ),
    "act.busy": (
        "a retry is under way, or an attempt may still be sending",
        "look again when the lease of the latest attempt is over",
    ),
    "act.not-uncertain": ("no effect of this run is unknown", "read the run's status"),
    "act.no-receipt": (
        "the operation has no receipt that could be read",
        "do what `controls` of the run's status grants, a cancel last: see docs/operate.md",
    ),
}

_OF_THE_RUN = frozenset(
    f"act.{code}"
    for code in ("closed", "deadline-reached", "recovery-required", "cancelled", "held")
)
"""What is in the way is the run, whichever effect was meant."""
ACT_CODES = frozenset(_WORDS)
"""Every code by which an act is refused."""
