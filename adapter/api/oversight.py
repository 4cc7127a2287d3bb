"""What operators may do about the whole deployment: look, hold, review, release, erase."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fastapi import APIRouter, Depends, Request
from pydantic import Field, ValidationInfo, field_validator

from adapter.access import Caller
from adapter.api.acts import require_reason
from adapter.api.bodies import Body, read_body
from adapter.api.callers import Callers
from adapter.api.ports import Attestation, Diagnosis, HoldView, Oversight
from adapter.api.requests import accepts, may_answer, refuse_query

_TEXT = "1 to 256 bytes without control characters; kept as a keyed hash"


class HoldRequest(Body):
    """The wish to hold the deployment."""

    reason: str = Field(description=_TEXT)


class ReleaseRequest(HoldRequest):
    """The wish to let dispatches go on."""

    leave_unknown: bool = Field(
        False, description="leave unknown effects in attention, where nothing repeats them"
    )


class RecoveryRequest(Body):
    """What an operator vouches for when the review of executions is to be completed."""

    recovery_reference: str = Field(description=f"where the evidence is; {_TEXT}")
    execution_history_complete: bool
    prior_deployment_fenced: bool


class AdmissionRelease(Body):
    """What an operator vouches for when new runs are to be let in."""

    recovery_reference: str = Field(description=f"where the evidence is; {_TEXT}")
    admission_history_complete: bool
    prior_deployment_fenced: bool


class RetentionRequest(Body):
    """The wish to erase payloads of runs that ended before an instant."""

    before: datetime = Field(strict=False, description="RFC 3339 with an offset, not in the future")
    limit: int = Field(100, description="1 to 100 runs")

    @field_validator("before", mode="before")
    @classmethod
    def _instant(cls, value: Any, info: ValidationInfo) -> Any:
        # A number would be taken for seconds since 1970: only an instant with an offset is meant.
        if not isinstance(value, str):
            raise ValueError(f"{info.field_name} is no instant")
        at = datetime.fromisoformat(value)
        if at.tzinfo is None:
            raise ValueError(f"{info.field_name} has no offset")
        return at


class Hold(Body):
    """How the two holds stand; ``code`` says why the restore hold does."""

    restore_hold: bool
    admissions_hold: bool
    code: str | None
    held_at: datetime | None
    review_begun_at: datetime | None
    runs_under_review: int


class Review(Body):
    """What became of the runs under review."""

    execution_recovery_reviewed: bool = Field(description="whether no run is left under review")
    cleared: int
    ended: int
    remaining: int


class Erased(Body):
    """How many runs were erased; fewer than the limit means that none is left."""

    erased: int


class DoctorFinding(Body):
    """Something that needs a person."""

    code: str
    count: int
    since: datetime | None
    remedy: str


class Doctor(Body):
    """What needs a person, and the numbers behind it; never a payload."""

    healthy: bool
    findings: list[DoctorFinding]
    deployment: str
    epoch: str
    counter: int
    hold: Hold
    states: dict[str, int] = Field(description="runs by state")
    unknown_effects: int
    failed_starts: int
    pending_starts: int
    oldest_pending_start_at: datetime | None
    open_acts: int
    oldest_act_at: datetime | None
    open_signals: int = Field(description="signals without an outcome")
    oldest_signal_at: datetime | None
    open_hints: int = Field(description="waits whose execution was not told of a hint yet")
    oldest_hint_at: datetime | None
    oldest_due_at: datetime | None
    unerased_runs: int
    oldest_unerased_at: datetime | None
    last_pass_at: datetime | None
    last_pass_age_seconds: int | None
    namespace_retention_seconds: int | None = Field(description="null when Temporal is away")
    failing_executions: int | None = Field(
        description="open executions whose every task fails; null when Temporal does not say"
    )


def oversight_routes(callers: Callers, oversight: Oversight) -> APIRouter:
    """The routes that are about the whole deployment; callers must be operators."""
    router = APIRouter(prefix="/v1", tags=["deployment"])
    _add_doctor(router, callers, oversight)
    _add_holds(router, callers, oversight)
    _add_releases(router, callers, oversight)
    _add_retention(router, callers, oversight)
    return router


def _add_doctor(router: APIRouter, callers: Callers, oversight: Oversight) -> None:
    may_look = Depends(callers.may("doctor"))

    @router.get(
        "/doctor",
        operation_id="doctor",
        summary="What needs a person",
        responses=may_answer(400),
        dependencies=[may_look],
    )
    async def doctor(request: Request) -> Doctor:
        refuse_query(request)
        return _doctor(await oversight.diagnose())


def _add_holds(router: APIRouter, callers: Callers, oversight: Oversight) -> None:
    may_hold = Depends(callers.may("restore-hold"))
    may_complete = Depends(callers.may("complete-execution-recovery"))

    @router.post(
        "/restore-hold",
        operation_id="restoreHold",
        summary="Stop dispatch and admission, and put every unfinished run under review",
        responses=may_answer(400, 415),
        openapi_extra=accepts(HoldRequest),
    )
    async def restore_hold(request: Request, caller: Caller = may_hold) -> Hold:
        refuse_query(request)
        wish = await read_body(request, HoldRequest)
        require_reason(wish.reason)
        return _hold(await oversight.restore_hold(caller.actor, wish.reason))

    @router.post(
        "/complete-execution-recovery",
        operation_id="completeExecutionRecovery",
        summary="Review every run under the restore hold",
        responses=may_answer(400, 409, 415),
        openapi_extra=accepts(RecoveryRequest),
    )
    async def complete(request: Request, caller: Caller = may_complete) -> Review:
        refuse_query(request)
        wish = await read_body(request, RecoveryRequest)
        require_reason(wish.recovery_reference, "/recoveryReference")
        attested = Attestation(
            wish.recovery_reference, wish.execution_history_complete, wish.prior_deployment_fenced
        )
        done = await oversight.complete_recovery(caller.actor, attested)
        return Review(
            execution_recovery_reviewed=not done.remaining,
            cleared=done.cleared,
            ended=done.ended,
            remaining=done.remaining,
        )


def _add_releases(router: APIRouter, callers: Callers, oversight: Oversight) -> None:
    may_release = Depends(callers.may("release-restore-hold"))
    may_admit = Depends(callers.may("release-admission-hold"))

    @router.post(
        "/release-restore-hold",
        operation_id="releaseRestoreHold",
        summary="Let dispatches go on; admissions stay closed",
        responses=may_answer(400, 409, 415),
        openapi_extra=accepts(ReleaseRequest),
    )
    async def release(request: Request, caller: Caller = may_release) -> Hold:
        refuse_query(request)
        wish = await read_body(request, ReleaseRequest)
        require_reason(wish.reason)
        return _hold(
            await oversight.release_restore_hold(caller.actor, wish.reason, wish.leave_unknown)
        )

    @router.post(
        "/release-admission-hold",
        operation_id="releaseAdmissionHold",
        summary="Let new runs in",
        responses=may_answer(400, 409, 415),
        openapi_extra=accepts(AdmissionRelease),
    )
    async def admit(request: Request, caller: Caller = may_admit) -> Hold:
        refuse_query(request)
        wish = await read_body(request, AdmissionRelease)
        require_reason(wish.recovery_reference, "/recoveryReference")
        attested = Attestation(
            wish.recovery_reference, wish.admission_history_complete, wish.prior_deployment_fenced
        )
        return _hold(await oversight.release_admission_hold(caller.actor, attested))


def _add_retention(router: APIRouter, callers: Callers, oversight: Oversight) -> None:
    may_retain = Depends(callers.may("retain"))

    @router.post(
        "/retention",
        operation_id="retain",
        summary="Erase the payloads of runs that are over",
        responses=may_answer(400, 415),
        openapi_extra=accepts(RetentionRequest),
    )
    async def retain(request: Request, caller: Caller = may_retain) -> Erased:
        refuse_query(request)
        wish = await read_body(request, RetentionRequest)
        return Erased(erased=await oversight.retain(caller.actor, wish.before, wish.limit))


def _hold(hold: HoldView) -> Hold:
    return Hold(
        restore_hold=hold.restore_hold,
        admissions_hold=hold.admissions_hold,
        code=hold.code or None,
        held_at=hold.held_at,
        review_begun_at=hold.review_begun_at,
        runs_under_review=hold.reviews,
    )


def _doctor(found: Diagnosis) -> Doctor:
    return Doctor(
        healthy=not found.findings,
        findings=[
            DoctorFinding(code=f.code, count=f.count, since=f.since, remedy=f.remedy)
            for f in found.findings
        ],
        deployment=found.deployment,
        epoch=found.epoch,
        counter=found.counter,
        hold=_hold(found.hold),
        states=dict(found.states),
        unknown_effects=found.unknown_effects,
        failed_starts=found.failed_starts,
        pending_starts=found.pending_starts,
        oldest_pending_start_at=found.oldest_pending_start_at,
        open_acts=found.open_acts,
        oldest_act_at=found.oldest_act_at,
        open_signals=found.open_signals,
        oldest_signal_at=found.oldest_signal_at,
        open_hints=found.open_hints,
        oldest_hint_at=found.oldest_hint_at,
        oldest_due_at=found.oldest_due_at,
        unerased_runs=found.unerased_runs,
        oldest_unerased_at=found.oldest_unerased_at,
        last_pass_at=found.last_pass_at,
        last_pass_age_seconds=found.last_pass_age,
        namespace_retention_seconds=found.namespace_retention,
        failing_executions=found.failing_executions,
    )
