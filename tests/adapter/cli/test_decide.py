"""Which review `decide` means: the only pending one, or the one that a run has asked for."""

from __future__ import annotations

from typing import Any, cast

import pytest

from adapter.cli.casework_client import PretendCasework
from adapter.cli.decide import _only_pending
from adapter.errors import Refused

ONE, OTHER = "11111111-0000-4000-8000-000000000000", "22222222-0000-4000-8000-000000000000"


class Desk:
    """A desk where these runs wait for a review."""

    def __init__(self, *runs: str) -> None:
        self.runs = runs

    def pending(self) -> list[dict[str, Any]]:
        """One review for each run."""
        named = enumerate(self.runs, 1)
        return [{"reviewRequestId": f"rr-{n}", "correlationId": run} for n, run in named]


def chosen(*runs: str, run: str | None = None) -> str:
    """The review that is meant when these runs wait."""
    return _only_pending(cast(PretendCasework, Desk(*runs)), run)


def test_the_only_pending_review_or_that_of_the_named_run_is_meant() -> None:
    assert chosen(ONE) == "rr-1"
    assert chosen(ONE, OTHER, run=OTHER) == "rr-2"


def test_of_several_each_is_told_with_its_run() -> None:
    with pytest.raises(Refused) as refused:
        chosen(ONE, OTHER)
    assert refused.value.message.endswith(f"rr-1 (run {ONE}), rr-2 (run {OTHER})")


@pytest.mark.parametrize(("runs", "run"), [((), None), ((ONE,), OTHER)])
def test_without_a_review_a_run_is_to_be_started(runs: tuple[str, ...], run: str | None) -> None:
    with pytest.raises(Refused) as refused:
        chosen(*runs, run=run)
    assert refused.value.code == "decide.no-single-review"
