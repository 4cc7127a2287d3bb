"""Which of ledger and Temporal was restored, told from their marks alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from adapter.ledger.holds import HoldCode
from adapter.ledger.watermark import Waterline
from adapter.reconcile.marks import Marks, Verdict, judge
from interpreter.contract.records import LedgerMark

AT_FIVE = Waterline("e2", 5, "e2", held=False, review_begun=False, known=["e1", "e2"])
CONFIRMED = replace(AT_FIVE, marked_counter=5)
FRESH = replace(AT_FIVE, counter=0, marked_epoch=None)
NEW_EPOCH = replace(AT_FIVE, epoch="e3", known=["e1", "e2", "e3"])


@pytest.mark.parametrize(
    ("ledger", "found", "verdict"),
    [
        (AT_FIVE, LedgerMark("e2", 5), Verdict.AGREE),
        (AT_FIVE, LedgerMark("e2", 4), Verdict.AGREE),
        (AT_FIVE, LedgerMark("e2", 3), Verdict.TEMPORAL_BEHIND),
        (CONFIRMED, LedgerMark("e2", 5), Verdict.AGREE),
        (CONFIRMED, LedgerMark("e2", 4), Verdict.TEMPORAL_BEHIND),
        (replace(CONFIRMED, marked_counter=4), LedgerMark("e2", 4), Verdict.AGREE),
        (replace(CONFIRMED, marked_epoch="e1"), LedgerMark("e2", 4), Verdict.AGREE),
        (AT_FIVE, LedgerMark("e2", 6), Verdict.LEDGER_BEHIND),
        (AT_FIVE, LedgerMark("e9", 1), Verdict.LEDGER_BEHIND),
        (AT_FIVE, LedgerMark("e1", 9), Verdict.TEMPORAL_BEHIND),
        (AT_FIVE, None, Verdict.TEMPORAL_BEHIND),
        (FRESH, None, Verdict.ADOPT),
        (NEW_EPOCH, LedgerMark("e2", 9), Verdict.ADOPT),
        (NEW_EPOCH, None, Verdict.ADOPT),
        (NEW_EPOCH, LedgerMark("e9", 1), Verdict.LEDGER_BEHIND),
    ],
)
def test_the_marks_tell_who_is_older(
    ledger: Waterline, found: LedgerMark | None, verdict: Verdict
) -> None:
    assert judge(ledger, found) is verdict


@pytest.mark.parametrize("erased", [None, datetime(2026, 1, 1, 12, 0, 0, 1, tzinfo=UTC)])
def test_a_mark_keeps_up_to_which_instant_runs_were_erased(erased: datetime | None) -> None:
    mark = replace(AT_FIVE, erased_before=erased).mark
    assert LedgerMark.from_json(mark.to_json()) == mark
    assert judge(AT_FIVE, mark) is Verdict.AGREE


class SlowSchedule:
    """Temporal's copy as a cluster may show it: the one of before for so many looks."""

    def __init__(self, stale: int) -> None:
        self.looks = 0
        self.stale = stale

    async def read(self, _client: object) -> LedgerMark:
        """The copy of before, then the present one."""
        self.looks += 1
        return LedgerMark("e2", 4 if self.looks <= self.stale else 5)


class StandingLedger:
    """A ledger whose mark was confirmed, and what it was held for."""

    def __init__(self) -> None:
        self.watermark = self.holds = self
        self.held: list[str] = []

    async def read(self) -> Waterline:
        """Its mark."""
        return CONFIRMED

    async def place(self, code: HoldCode, _epoch: str | None) -> bool:
        """Note a hold."""
        self.held.append(code.value)
        return True


@pytest.mark.parametrize(
    ("stale", "verdict", "held"),
    [(2, Verdict.AGREE, []), (9, Verdict.TEMPORAL_BEHIND, ["temporal-behind"])],
)
async def test_a_copy_that_is_shown_late_holds_nobody(
    stale: int, verdict: Verdict, held: list[str]
) -> None:
    ledger: Any = StandingLedger()
    schedule: Any = SlowSchedule(stale)
    assert await Marks(ledger, schedule).compare(cast("Any", None)) is verdict
    assert ledger.held == held
