"""What the doctor finds, rule by rule."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adapter.ledger.census import Counted
from adapter.reconcile.diagnosis import Norms, diagnose
from adapter.temporal.namespace import NamespaceFacts

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NORMS = Norms(timedelta(minutes=1), timedelta(days=3), signs=True)
WELL = Counted(
    now=NOW,
    deployment="town",
    epoch="e1",
    counter=7,
    restore_hold=False,
    admissions_hold=False,
    hold_code="",
    held_at=None,
    review_begun_at=None,
    passed_at=NOW - timedelta(seconds=30),
    states={"finished": 3, "waiting": 2},
    reviews=0,
    uncertain=0,
    failed_starts=0,
    pending_starts=1,
    oldest_pending_start=NOW - timedelta(seconds=1),
    open_acts=1,
    oldest_act=NOW - timedelta(seconds=1),
    open_signals=1,
    oldest_signal=NOW - timedelta(seconds=1),
    open_hints=1,
    oldest_hint=NOW - timedelta(seconds=1),
    oldest_due=NOW + timedelta(days=1),
    unerased=3,
    oldest_unerased=NOW - timedelta(days=9),
    oldest_unsealed=NOW - timedelta(seconds=1),
)
HOUR_AGO = NOW - timedelta(hours=1)


QUIET = NamespaceFacts(timedelta(days=7), 0)


def codes(counted: Counted, seen: NamespaceFacts | None = QUIET) -> list[str]:
    """What is found, without its common head."""
    return [f.code.removeprefix("doctor.") for f in diagnose(counted, seen, NORMS)]


def test_a_deployment_that_is_well_needs_nobody() -> None:
    assert codes(WELL) == []


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"restore_hold": True, "hold_code": "ledger-behind"}, "restore-hold"),
        ({"admissions_hold": True}, "admission-hold"),
        ({"reviews": 2}, "review-open"),
        ({"states": {"attention": 1}}, "attention"),
        ({"states": {"recovery-required": 1}}, "recovery-required"),
        ({"failed_starts": 1}, "start-failed"),
        ({"oldest_pending_start": HOUR_AGO}, "start-late"),
        ({"oldest_act": HOUR_AGO}, "act-late"),
        ({"oldest_signal": HOUR_AGO}, "signal-late"),
        ({"oldest_hint": HOUR_AGO}, "hint-late"),
        ({"oldest_due": HOUR_AGO}, "wait-late"),
        ({"oldest_unsealed": HOUR_AGO}, "journal-unsealed"),
        ({"passed_at": HOUR_AGO}, "reconciler-late"),
        ({"passed_at": None}, "reconciler-late"),
    ],
)
def test_what_needs_a_person_is_found(change: dict[str, Any], code: str) -> None:
    assert codes(replace(WELL, **change)) == [code]


@pytest.mark.parametrize("unsealed", [None, HOUR_AGO])
def test_a_journal_that_nothing_signs_is_told_as_such(unsealed: datetime | None) -> None:
    norms = replace(NORMS, signs=False)
    [found] = diagnose(replace(WELL, oldest_unsealed=unsealed), QUIET, norms)
    assert (found.code, found.since) == ("doctor.journal-unsigned", unsealed)


def test_a_short_retention_and_an_absent_temporal_are_told() -> None:
    assert codes(WELL, replace(QUIET, retention=timedelta(days=1))) == ["retention-short"]
    assert codes(WELL, None) == ["temporal-away"]


@pytest.mark.parametrize(("failing", "found"), [(3, ["tasks-failing"]), (0, []), (None, [])])
def test_executions_whose_tasks_fail_are_told_where_temporal_says_so(
    failing: int | None, found: list[str]
) -> None:
    assert codes(WELL, replace(QUIET, failing=failing)) == found


def test_under_a_hold_nothing_is_late_but_the_reconciler() -> None:
    held = replace(WELL, restore_hold=True, oldest_act=HOUR_AGO, oldest_due=HOUR_AGO)
    assert codes(held) == ["restore-hold"]
