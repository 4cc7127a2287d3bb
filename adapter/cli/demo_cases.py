"""Every way the example can end, and what makes it end so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adapter.cli.casework_client import PretendCasework
from adapter.cli.service_client import ServiceClient
from adapter.errors import Usage

EVERY_CASE = "all"


@dataclass(frozen=True, slots=True)
class Stage:
    """What a case may act on while its run waits: the run, its review, the desk, the service."""

    client: ServiceClient
    desk: PretendCasework
    run: str
    review: str


def _nothing_before(_: PretendCasework) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Case:
    """One end of the example: ``act`` is done once, when the wait for the review is open.

    ``told`` says the act in words; with ``short_wait`` the workflow's patience is seconds.
    """

    about: str
    state: str
    outcome: str | None
    application: str = "APP-1001"
    told: str = ""
    act: Callable[[Stage], None] | None = None
    before: Callable[[PretendCasework], None] = _nothing_before
    short_wait: bool = False


def _approve(stage: Stage) -> None:
    stage.desk.decide(stage.review, "approved", "Everything is in order.")


def _reject(stage: Stage) -> None:
    stage.desk.decide(stage.review, "rejected", "The plan is missing.")


def _approve_in_silence(stage: Stage) -> None:
    stage.desk.lose_event_of(stage.review)
    _approve(stage)


def _cancel(stage: Stage) -> None:
    stage.client.post(f"/v1/runs/{stage.run}/cancel", {"reason": "No longer wanted."})


def _approve_in_silence_and_cancel(stage: Stage) -> None:
    _approve_in_silence(stage)
    _cancel(stage)


def _refuse_reviews(desk: PretendCasework) -> None:
    desk.fault("casework.submit-review-request", "refuse", code="review-scope-closed")


CASES: dict[str, Case] = {
    "approved": Case(
        "a person approves, the notice is sent",
        "finished",
        "notified",
        told="a person approves the review",
        act=_approve,
    ),
    "rejected": Case(
        "a person rejects, nothing is sent",
        "finished",
        "rejected",
        told="a person rejects the review",
        act=_reject,
    ),
    "review-refused": Case(
        "casework takes no reviews in this scope",
        "finished",
        "review-refused",
        before=_refuse_reviews,
    ),
    "notice-refused": Case(
        "messaging has the applicant's address suppressed",
        "finished",
        "notice-refused",
        application="APP-1003",
        told="a person approves the review",
        act=_approve,
    ),
    "record-absent": Case(
        "the registry has no such application", "failed", None, application="APP-9999"
    ),
    "cancelled": Case(
        "the caller cancels, the review is withdrawn",
        "cancelled-after-effect",
        "cancelled",
        told="the caller cancels the run",
        act=_cancel,
    ),
    "cancelled-after-decision": Case(
        "the caller cancels after somebody has decided",
        "cancelled-after-effect",
        "cancelled-after-decision",
        told="a person approves, its event is lost, and the caller cancels the run",
        act=_approve_in_silence_and_cancel,
    ),
    "timed-out": Case(
        "nobody decides in time, the review is withdrawn",
        "finished",
        "timed-out",
        short_wait=True,
    ),
    "late-decision": Case(
        "the decision's event is lost, the wait ends, the decision is found anyway",
        "finished",
        "notified",
        told="a person approves, and the event about it is lost",
        act=_approve_in_silence,
        short_wait=True,
    ),
}


def chosen_cases(name: str) -> dict[str, Case]:
    """The named case, or every one, those with a short wait last; Usage ``demo.unknown-case``."""
    if name == EVERY_CASE:
        return dict(sorted(CASES.items(), key=lambda item: item[1].short_wait))
    if name not in CASES:
        raise Usage(
            "demo.unknown-case",
            "the example has no such case",
            place="--case",
            remedy=f"use one of: {', '.join(CASES)}, or {EVERY_CASE}",
        )
    return {name: CASES[name]}
