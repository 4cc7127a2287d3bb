"""What needs a person, judged from the ledger's counts and Temporal's namespace: pure rules."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from adapter.ledger.census import Counted
from adapter.temporal.namespace import NamespaceFacts
from interpreter.contract.records import RunState

_START_PATIENCE = timedelta(minutes=1)
_DELIVERY_PATIENCE = timedelta(minutes=5)
_WAIT_PATIENCE = timedelta(minutes=10)
_SEAL_PATIENCE = timedelta(minutes=1)
_MISSED_PASSES = 5


@dataclass(frozen=True, slots=True)
class Norms:
    """What a deployment has to keep to: how often passes come, how long Temporal keeps history.

    ``signs`` is whether it has a key that signs checkpoints of the journal.
    """

    every: timedelta
    least_retention: timedelta
    signs: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that needs a person: how many, since when, and what helps."""

    code: str
    count: int
    since: datetime | None
    remedy: str


def diagnose(counted: Counted, seen: NamespaceFacts | None, norms: Norms) -> list[Finding]:
    """Everything that needs a person, the gravest first; none when the deployment is well.

    ``seen`` is None when Temporal did not answer.
    """
    found = [*_holds(counted), *_runs(counted), *_late(counted, norms), *_temporal(seen, norms)]
    return [one for one in found if one.count]


def _temporal(seen: NamespaceFacts | None, norms: Norms) -> list[Finding]:
    if seen is None:
        remedy = "look at the Temporal server; admitted runs wait for it"
        return [Finding("doctor.temporal-away", 1, None, remedy)]
    remedy = (
        "the workers can not go on with them and try again, ever more rarely: see the code in their"
        " logs, and docs/operate.md"
    )
    found = [Finding("doctor.tasks-failing", seen.failing or 0, None, remedy)]
    if seen.retention < norms.least_retention:
        remedy = (
            f"keep closed executions for at least {norms.least_retention.days} days: what ended"
            " while the reconciler was away can not be looked up any more after that"
        )
        found.append(Finding("doctor.retention-short", 1, None, remedy))
    return found


def _holds(counted: Counted) -> list[Finding]:
    found = []
    if counted.restore_hold:
        begun = counted.review_begun_at is not None
        remedy = (
            "complete the execution recovery, then release the hold"
            if begun
            else f"it was placed because of {counted.hold_code}: take it over with restore-hold"
        )
        found.append(Finding("doctor.restore-hold", 1, counted.held_at, remedy))
    elif counted.admissions_hold:
        remedy = "release the admission hold once the history of admissions is complete"
        found.append(Finding("doctor.admission-hold", 1, counted.held_at, remedy))
    remedy = "reconcile what is unknown, then complete the execution recovery"
    found.append(Finding("doctor.review-open", counted.reviews, None, remedy))
    return found


def _runs(counted: Counted) -> list[Finding]:
    states = counted.states
    return [
        Finding(
            "doctor.recovery-required",
            states.get(RunState.RECOVERY_REQUIRED.value, 0),
            None,
            "their executions are lost: list them with --state recovery-required, then reset each"
            " in Temporal or cancel it; after a restore see docs/restore.md first",
        ),
        Finding(
            "doctor.attention",
            states.get(RunState.ATTENTION.value, 0),
            None,
            "an effect of theirs is unknown: list them with --state attention and settle each",
        ),
        Finding(
            "doctor.start-failed",
            counted.failed_starts,
            None,
            "Temporal refused to start them: see the worker's log, then cancel each",
        ),
    ]


def _late(counted: Counted, norms: Norms) -> list[Finding]:
    """What should have happened by itself; under a restore hold most of it may not."""
    now = counted.now
    found = []
    for finding, patience in [] if counted.restore_hold else _expected(counted):
        if finding.since is not None and now - finding.since > patience:
            found.append(finding)
    passed = counted.passed_at
    if passed is None or now - passed > _MISSED_PASSES * norms.every:
        remedy = (
            "no pass was made: does a worker run, is a build current where they are told apart, is"
            " the schedule paused?"
        )
        found.append(Finding("doctor.reconciler-late", 1, passed, remedy))
    unsealed = counted.oldest_unsealed
    if not norms.signs:
        remedy = "nobody can prove that the journal is whole: give audit.signingKey a key"
        found.append(Finding("doctor.journal-unsigned", 1, unsealed, remedy))
    elif unsealed is not None and now - unsealed > _SEAL_PATIENCE:
        remedy = "no checkpoint was signed since: look at the logs of the workers and the service"
        found.append(Finding("doctor.journal-unsealed", 1, unsealed, remedy))
    return found


def _expected(counted: Counted) -> list[tuple[Finding, timedelta]]:
    """What happens by itself, since when it is due, and how long that may take."""
    workers = "see whether workers run and Temporal answers"
    return [
        (
            Finding(
                "doctor.start-late",
                counted.pending_starts,
                counted.oldest_pending_start,
                f"admitted runs are not started: {workers}",
            ),
            _START_PATIENCE,
        ),
        (
            Finding(
                "doctor.act-late",
                counted.open_acts,
                counted.oldest_act,
                f"acts have no outcome: {workers}",
            ),
            _DELIVERY_PATIENCE,
        ),
        (
            Finding(
                "doctor.signal-late",
                counted.open_signals,
                counted.oldest_signal,
                f"signals have no outcome: {workers}",
            ),
            _DELIVERY_PATIENCE,
        ),
        (
            Finding(
                "doctor.hint-late",
                counted.open_hints,
                counted.oldest_hint,
                f"waits were not told that their source is worth reading: {workers}",
            ),
            _DELIVERY_PATIENCE,
        ),
        (
            Finding(
                "doctor.wait-late", 1, counted.oldest_due, f"a wait is past its instant: {workers}"
            ),
            _WAIT_PATIENCE,
        ),
    ]
