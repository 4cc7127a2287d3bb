"""The product's own delay, from seconds or from a date."""

from __future__ import annotations

import time

import pytest

from activities.products.outcomes import LONGEST_RETRY_AFTER_SECONDS, retry_after

_NOON = 1_792_756_800.0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        (" 1.5 ", 1.5),
        ("0", 0.0),
        ("Fri, 23 Oct 2026 12:00:30 GMT", 30.0),
        ("Fri, 23 Oct 2026 11:00:00 GMT", 0.0),
        ("99999999999999", LONGEST_RETRY_AFTER_SECONDS),
        ("soon", None),
        ("-1", None),
        ("٣", None),
        ("", None),
    ],
)
def test_a_retry_after_header_gives_seconds(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, _NOON) == seconds


def test_a_date_without_a_zone_means_gmt_wherever_the_worker_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert retry_after("Fri Oct 23 12:00:30 2026", _NOON) == 30.0
    finally:
        monkeypatch.undo()
        time.tzset()
