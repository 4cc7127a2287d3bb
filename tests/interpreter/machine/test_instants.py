"""Instants as mappings give them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpreter.machine.pointers import epoch_milliseconds, instant


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-02",
        "2026-03-02T08:00:00",
        "2026-02-30T08:00:00Z",
        "9999-12-31T23:59:59-14:00",
        "0001-01-01T00:00:00+14:00",
    ],
)
def test_what_is_no_instant_of_utc_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"instant|range|month"):
        epoch_milliseconds(text)


def test_an_instant_is_written_in_utc_with_milliseconds() -> None:
    assert instant(epoch_milliseconds("2026-03-02T09:00:00.1234+01:00")) == (
        "2026-03-02T08:00:00.123Z"
    )


@settings(deadline=None)
@given(st.integers(-62_135_510_400_000, 253_000_000_000_000))
def test_an_instant_keeps_its_millisecond(milliseconds: int) -> None:
    assert epoch_milliseconds(instant(milliseconds)) == milliseconds
