"""Instants and times as scenario files write them."""

from __future__ import annotations

from adapter.authoring.formats.shape import EXTERNAL_ID, Section
from interpreter.machine.pointers import epoch_milliseconds
from interpreter.scenario import Moment

LONGEST_SECONDS = 31_536_000
_EARLIEST_MS = epoch_milliseconds("0001-01-02T00:00:00Z")
_LATEST_MS = epoch_milliseconds("9000-01-01T00:00:00Z")
"""What follows an instant, such as a run's deadline, must still have a calendar date."""


def read_instant(section: Section, key: str, *, required: bool = True) -> int | None:
    """An RFC 3339 instant with offset as epoch milliseconds; None after a finding."""
    text = section.text(key, EXTERNAL_ID, required=required)
    if text is None:
        return None
    try:
        instant = epoch_milliseconds(text)
    except ValueError:
        message = f"`{key}` is no RFC 3339 instant with an offset"
    else:
        if _EARLIEST_MS <= instant <= _LATEST_MS:
            return instant
        message = f"`{key}` lies outside the years 1 to 8999"
    section.refuse("coordinator.scenarios.invalid-timestamp", section.place(key), message)
    return None


def read_moment(section: Section, admitted_ms: int | None) -> Moment:
    """Either ``at`` or ``afterSeconds``; any moment after a finding."""
    after = section.number("afterSeconds", 0, LONGEST_SECONDS, required=False)
    at = read_instant(section, "at", required=False)
    if section.has("at") == section.has("afterSeconds"):
        message = f"{section.what} needs either `at` or `afterSeconds`"
        section.refuse("coordinator.scenarios.invalid-moment", section.spot, message)
    elif at is not None and admitted_ms is not None and at < admitted_ms:
        message = "this lies before the run is admitted"
        section.refuse("coordinator.scenarios.invalid-moment", section.place("at"), message)
    if at is not None:
        return Moment(at_ms=at)
    return Moment(after_ms=milliseconds(after or 0))


def read_seconds(section: Section, key: str) -> int | None:
    """A number of seconds as milliseconds; None when it is absent or after a finding."""
    seconds = section.number(key, 0, LONGEST_SECONDS, required=False)
    return None if seconds is None else milliseconds(seconds)


def milliseconds(seconds: float) -> int:
    """Seconds as whole milliseconds."""
    return round(seconds * 1000)
