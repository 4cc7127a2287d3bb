"""What is done about an unfinished run, rule by rule."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from adapter.ledger.unfinished import Unfinished
from adapter.reconcile.observe import Observation
from adapter.reconcile.plan import Bind, Finish, Leave, RequireRecovery, Resume, Step, plan
from adapter.temporal.executions import Fate, Found, Published

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
RUN = Unfinished("r", "notice", 1, "started", "t1", "running", 1, NOON)
OF_LOST_ADMISSION = Found(Fate.LIVE, "t0", started_at=NOON - timedelta(hours=1))
FLAGGED = replace(RUN, run_state="recovery-required")
NEVER_STARTED = replace(FLAGGED, start_state="start_failed", temporal_run_id=None)


@pytest.mark.parametrize(
    ("unfinished", "found", "step"),
    [
        (RUN, Found(Fate.LIVE, "t1"), Leave()),
        (RUN, Found(Fate.LIVE, "t2"), Resume("t2")),
        (FLAGGED, Found(Fate.LIVE, "t1"), Resume("t1")),
        (RUN, Found(Fate.TERMINATED, "t1"), RequireRecovery("execution-terminated")),
        (RUN, Found(Fate.TIMED_OUT, "t1"), RequireRecovery("execution-timed-out")),
        (RUN, Found(Fate.FAILED, "t1"), RequireRecovery("execution-failed")),
        (RUN, Found(Fate.CANCELLED, "t1"), RequireRecovery("execution-cancelled")),
        (RUN, Found(Fate.MISSING), RequireRecovery("execution-missing")),
        (RUN, Found(Fate.COMPLETED, "t1"), RequireRecovery("execution-completed")),
        (RUN, Found(Fate.COMPLETED, "t1", Published("done", 1)), Finish("done", 1)),
        (FLAGGED, Found(Fate.COMPLETED, "t1", Published("done", 1)), Finish("done", 1)),
        (FLAGGED, Found(Fate.MISSING), Leave()),
        (replace(RUN, latest=2), Found(Fate.TERMINATED, "t1"), Leave()),
        (NEVER_STARTED, Found(Fate.LIVE, "t1"), Bind("t1")),
        (NEVER_STARTED, Found(Fate.MISSING), Leave()),
        (RUN, Found(Fate.LIVE, "t1", started_at=NOON - timedelta(seconds=30)), Leave()),
        (RUN, OF_LOST_ADMISSION, RequireRecovery("execution-of-lost-admission")),
        (FLAGGED, OF_LOST_ADMISSION, Leave()),
        (NEVER_STARTED, OF_LOST_ADMISSION, Leave()),
        (
            RUN,
            replace(OF_LOST_ADMISSION, fate=Fate.COMPLETED),
            RequireRecovery("execution-of-lost-admission"),
        ),
    ],
)
def test_each_observation_asks_for_one_step(
    unfinished: Unfinished, found: Found, step: Step
) -> None:
    assert plan(Observation(unfinished, found)) == step
