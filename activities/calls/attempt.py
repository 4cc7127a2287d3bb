"""One attempt of one activity, as Temporal describes it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from temporalio import activity
from temporalio.exceptions import ApplicationError

from interpreter.contract.effects import VisitRef, visit_ref
from interpreter.contract.runs import run_id_of


@dataclass(frozen=True, slots=True)
class Attempt:
    """Which effect, generation and operation this activity is about, from its own ids.

    ``scheduled_at`` is when Temporal was asked for the activity, however often it was tried since.
    """

    visit: VisitRef
    generation: int
    activity_id: str
    operation: str
    is_local: bool
    scheduled_at: datetime | None = None


def present_attempt() -> Attempt:
    """The attempt that is running now.

    Raises a non-retryable ApplicationError ``not-admitted`` for an activity whose ids this
    interpreter did not give.
    """
    info = activity.info()
    try:
        run_id = run_id_of(info.workflow_id or "")
        visit, generation = visit_ref(run_id, info.activity_id)
    except ValueError as error:
        raise ApplicationError(
            "the activity's ids are not those of an admitted run",
            type="not-admitted",
            non_retryable=True,
        ) from error
    return Attempt(
        visit,
        generation,
        info.activity_id,
        info.activity_type,
        info.is_local,
        info.scheduled_time,
    )
