"""The one table that translates a run's state into the words of each format and of Temporal."""

from __future__ import annotations

from dataclasses import dataclass

from interpreter.contract.records import RunState


@dataclass(frozen=True, slots=True)
class Words:
    """One state in other vocabularies.

    ``project`` is what callers of a project's workflow are shown, ``execution`` the word of
    executions with stages, ``graph`` the run status of process graphs, ``temporal`` the close
    status of the Temporal execution (``Running`` while it is open).
    """

    project: str
    execution: str
    graph: str
    temporal: str


WORDS: dict[RunState, Words] = {
    RunState.QUEUED: Words("running", "queued", "Running", "Running"),
    RunState.RUNNING: Words("running", "running", "Running", "Running"),
    RunState.WAITING: Words("running", "waiting", "Waiting", "Running"),
    RunState.PAUSED: Words("running", "paused", "Waiting", "Running"),
    RunState.ATTENTION: Words("attention", "waiting", "ReconciliationRequired", "Running"),
    RunState.RECOVERY_REQUIRED: Words("attention", "waiting", "ReconciliationRequired", "Running"),
    RunState.CANCEL_REQUESTED: Words("cancel-requested", "running", "Running", "Running"),
    RunState.FINISHED: Words("finished", "succeeded", "Succeeded", "Completed"),
    RunState.FAILED: Words("failed", "failed", "Failed", "Failed"),
    RunState.CANCELLED: Words("cancelled", "canceled", "Cancelled", "Canceled"),
    RunState.CANCELLED_AFTER_EFFECT: Words(
        "cancelled-after-effect", "canceled", "Cancelled", "Canceled"
    ),
    RunState.EXPIRED: Words("expired", "failed", "Failed", "Failed"),
    RunState.ROLLED_BACK: Words("rolled-back", "rolled_back", "Cancelled", "Completed"),
}
"""Every state has its words; a test holds that the table in docs/states.md is this one."""
