"""The benchmark runs, and its report says what it promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapter.embedded import LedgerAddresses
from benchmarks.cases import CASES
from benchmarks.ground import Ground
from benchmarks.overhead import compare, options_of
from benchmarks.ratios import MEASURES, case_ratios, ratios, table
from benchmarks.rounds import Round, in_turn
from tests.fixtures.postgres import as_owner


def _round(throughput: float, events: int) -> Round:
    return Round(
        alone=[0.1, 0.2, 0.3],
        loaded=[1.0] * 10,
        loaded_seconds=10 / throughput,
        events=[events],
        bytes=[100 * events],
        processor={"client": 0.01},
    )


@pytest.mark.timeout(180)  # it starts five processes, on a machine that may be busy
async def test_one_small_round_compares_all_sides(
    temporal_address: str, database_url: str, tmp_path: Path
) -> None:
    async def database(_name: str) -> LedgerAddresses:
        return LedgerAddresses(database_url, as_owner(database_url))

    case, sealed = CASES["reads"].of_size(4), CASES["sealed-reads"].of_size(4)
    async with Ground(tmp_path, temporal_address, database, {}) as ground:
        measured = await compare(ground, [case, sealed], rounds=1, concurrency=4, workers=1)
    events = {side: set(rounds[0].events) for side, rounds in measured["reads"].items()}
    assert events == {"interpreter": {9}, "plain": {23}, "ledgered": {29}}
    assert case_ratios(case, measured["reads"])["events"] == pytest.approx(9 / 23, abs=0.001)
    assert case_ratios(sealed, measured["sealed-reads"])["events"] == 1.0


def test_six_rounds_put_the_sides_in_every_order() -> None:
    orders = {tuple(in_turn(["a", "b", "c"], number)) for number in range(6)}
    assert len(orders) == 6


def test_a_ratio_is_ours_over_theirs_within_each_round() -> None:
    rounds = {
        "interpreter": [_round(20, 9), _round(30, 9), _round(10, 9)],
        "plain": [_round(10, 18), _round(30, 18), _round(10, 18)],
    }
    found = ratios(rounds, "plain")
    assert set(found) == set(MEASURES)
    assert found["throughput"] == 1.0
    assert found["events"] == 0.5


def test_a_case_reports_the_opponent_of_its_aim_first_and_both_by_name() -> None:
    rounds = {
        "interpreter": [_round(20, 24)],
        "plain": [_round(40, 23)],
        "ledgered": [_round(10, 29)],
    }
    found = case_ratios(CASES["effects"], rounds)
    assert found["throughput"] == 2.0
    assert found["against_plain"] == ratios(rounds, "plain")
    assert "**interpreter / ledgered** | 2.00" in table(CASES["effects"], rounds)


@pytest.mark.parametrize("wrong", [["--cases", "writes"], ["--rounds", "0"], ["--format", "xml"]])
def test_a_wrong_option_is_refused_with_its_name(
    wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        options_of(wrong)
    assert end.value.code == 2
    assert f"argument {wrong[0]}" in capsys.readouterr().err
