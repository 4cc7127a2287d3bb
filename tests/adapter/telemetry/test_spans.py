"""Spans: what goes out of a process, and what never does."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from adapter.errors import Unavailable
from adapter.telemetry.calls import WatchedCalls
from adapter.telemetry.spans import Spans, parent_of, trace_headers

_TRACE, _SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def _exported(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_an_error_is_exported_by_its_type_alone(tmp_path: Path) -> None:
    spans = Spans.to_file(tmp_path / "spans", {"service.name": "test"})
    attributes = {"coordinator.operation": "some.read/v1", "body": "secret"}
    with (
        suppress(ValueError),
        spans.tracer.start_as_current_span("work", attributes=attributes),
    ):
        raise ValueError("secret")
    spans.close()
    [found] = _exported(tmp_path / "spans")
    assert "secret" not in json.dumps(found)
    assert found["attributes"] == {"coordinator.operation": "some.read/v1"}
    assert [one["attributes"] for one in found["events"]] == [{"exception.type": "ValueError"}]
    assert found["status"] == {"status_code": "ERROR"}


def test_a_file_of_spans_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    spans = Spans.to_file(tmp_path / "spans", {})
    spans.close()
    assert (tmp_path / "spans").stat().st_mode & 0o777 == 0o600


def test_a_file_that_can_not_be_written_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(Unavailable) as caught:
        Spans.to_file(tmp_path / "absent" / "spans", {})
    assert caught.value.code == "telemetry.file-unusable"


def test_a_call_goes_on_with_the_trace_and_tells_its_class(tmp_path: Path) -> None:
    spans = Spans.to_file(tmp_path / "spans", {})
    with spans.tracer.start_as_current_span("activity") as outer:
        with WatchedCalls(None, spans).call("some.read/v1", "registry") as watched:
            [(name, value)] = watched.headers
            watched.ended("accepted")
        trace = f"{outer.get_span_context().trace_id:032x}"
    spans.close()
    assert (name, value.split("-")[1]) == ("traceparent", trace)
    call, activity = _exported(tmp_path / "spans")
    assert call["parent_id"] == activity["context"]["span_id"]
    assert call["context"]["span_id"].removeprefix("0x") == value.split("-")[2]
    assert call["attributes"]["coordinator.class"] == "accepted"


def test_a_call_that_is_cut_off_says_so(tmp_path: Path) -> None:
    spans = Spans.to_file(tmp_path / "spans", {})
    with (
        pytest.raises(TimeoutError),
        WatchedCalls(None, spans).call("some.read/v1", "registry"),
    ):
        raise TimeoutError
    spans.close()
    assert _exported(tmp_path / "spans")[0]["attributes"]["coordinator.class"] == "cut-off"


@pytest.mark.parametrize(
    "header",
    ["", "00-secret", f"00-{_TRACE}-{_SPAN}-01; secret", f"01-{_TRACE}-{_SPAN}-01-secret"],
)
def test_a_header_that_is_no_traceparent_begins_a_trace_of_its_own(header: str) -> None:
    assert parent_of(header) == {}


def test_a_traceparent_is_gone_on_with(tmp_path: Path) -> None:
    spans = Spans.to_file(tmp_path / "spans", {})
    parent = parent_of(f"00-{_TRACE}-{_SPAN}-01")
    with spans.tracer.start_as_current_span("request", context=parent):
        assert trace_headers()[0][1].split("-")[1] == _TRACE
    spans.close()
    assert _exported(tmp_path / "spans")[0]["parent_id"] == f"0x{_SPAN}"
    assert trace_headers() == ()
