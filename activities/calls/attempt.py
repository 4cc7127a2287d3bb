"""One attempt of one activity, as Temporal describes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from interpreter.contract.effects import VisitRef, visit_ref
from interpreter.contract.runs import run_id_of


@dataclass(slots=True)
class Progress:
    """How far the ledger was when a send was permitted; heartbeats leave it with Temporal.

    So an attempt knows what the one before it has seen, though the ledger may have lost it.
    """

    seen: int = 0


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
    progress: Progress = field(default_factory=Progress)


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
        Progress(_seen(info.heartbeat_details)),
    )


def _seen(details: Sequence[Any]) -> int:
    """What an earlier attempt has left with Temporal; 0 for nothing, or for a stranger's words."""
    return details[0] if details and isinstance(details[0], int) else 0
