"""Scenario files of ``coordinator/v1``: what is read, and what is refused where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapter.authoring.scenarios import load_suite
from interpreter.scenario import Moment, ReplyType
from tests.adapter.authoring.scenarios.suites import (
    EXAMPLE,
    changed,
    codes,
    file_of,
    packaged,
    read,
    suite,
)

REF = "scenarios.unknown-reference"


def test_the_scenarios_of_the_example_have_no_findings() -> None:
    reading = load_suite(EXAMPLE / "scenarios.yaml", packaged().definition)
    assert reading.diagnostics == ()


def test_times_are_read_to_the_millisecond() -> None:
    case = changed("replies.review.0.takesSeconds", 1.25)
    case["replies"]["review"].insert(0, {"type": "retryable", "code": "x", "retryAfterSeconds": 3})
    first, second = suite(case).cases[0].replies["review"]
    assert (first.type, first.retry_after_ms, second.takes_ms) == (
        ReplyType.RETRYABLE,
        3000,
        1250,
    )


def test_a_moment_is_an_instant_or_a_time_after() -> None:
    item = {"step": "result", "at": "2026-03-02T10:00:00+01:00", "gone": True}
    completion = suite(changed("completions.0", item)).cases[0].completions[0]
    assert completion.moment == Moment(at_ms=1_772_442_000_000)


@pytest.mark.parametrize(
    ("path", "value", "code", "pointer"),
    [
        ("id", "No", "config.invalid-value", "/id"),
        ("admittedAt", "2026-03-02", "scenarios.invalid-timestamp", "/admittedAt"),
        ("admittedAt", "9999-12-31T23:00:00Z", "scenarios.invalid-timestamp", "/admittedAt"),
        ("admittedAt", "9999-12-31T23:00:00-09:00", "scenarios.invalid-timestamp", "/admittedAt"),
        ("inputs", {}, "config.unknown-key", "/inputs"),
        ("expect", None, "config.missing-key", ""),
        ("expect.state", "done", "config.unknown-variant", "/expect/state"),
        ("expect.path", [], "scenarios.invalid-length", "/expect/path"),
        ("expect.effects", {"notice": "sent"}, "config.unknown-variant", "/expect/effects/notice"),
        ("replies.review", [], "scenarios.invalid-length", "/replies/review"),
        ("replies.review.0", {"type": "success"}, "config.missing-key", "/replies/review/0"),
        ("replies.review.0", {"type": "no"}, "config.unknown-variant", "/replies/review/0/type"),
        ("replies.review.0", {"type": "refused"}, "config.missing-key", "/replies/review/0"),
        ("completions.0.afterSeconds", None, "scenarios.invalid-moment", "/completions/0"),
        ("completions.0.at", "2027-01-01T00:00:00Z", "scenarios.invalid-moment", "/completions/0"),
        ("completions.0.gone", "yes", "config.expected-boolean", "/completions/0/gone"),
        ("acts", [{"type": "undo", "step": "a"}], "config.unknown-variant", "/acts/0/type"),
        ("cancel", {"at": "2020-01-01T00:00:00Z"}, "scenarios.invalid-moment", "/cancel/at"),
        ("stop", 5, "config.invalid-type", "/stop"),
        ("replies.notices", [{"type": "success", "value": 1}], REF, "/replies/notices"),
        ("expect.path", ["application", "x"], REF, "/expect/path/1"),
        ("expect.outcome", "sent", REF, "/expect/outcome"),
        ("expect.effects", {"x:2": "unknown"}, REF, "/expect/effects/x:2"),
        ("cancel", {"step": "x", "afterSeconds": 1}, REF, "/cancel/step"),
        ("completions.0.step", "x", REF, "/completions/0/step"),
    ],
)
def test_a_wrong_part_is_reported_at_its_place(
    path: str, value: Any, code: str, pointer: str
) -> None:
    reading = read(file_of(changed(path, value)))
    assert reading.suite is None
    places = [one.spot.pointer for one in reading.diagnostics]
    assert (code, f"/cases/0{pointer}") in zip(codes(reading.diagnostics), places, strict=True)


def test_all_problems_are_reported_together() -> None:
    reading = read(file_of(changed("id", "No"), changed("expect.state", "x"), 7))
    assert codes(reading.diagnostics) == [
        "config.invalid-value",
        "config.unknown-variant",
        "config.invalid-type",
    ]


def test_two_cases_of_one_id_are_reported_with_the_first() -> None:
    (found,) = read(file_of(changed(), changed())).diagnostics
    assert (found.code, found.spot.pointer) == ("config.duplicate-id", "/cases/1/id")
    assert found.related[0].spot.pointer == "/cases/0/id"


def test_a_name_that_is_nearly_right_is_suggested() -> None:
    (found,) = read(file_of(changed("expect.path", ["aplication"]))).diagnostics
    assert found.remedy == "did you mean `application`?"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "config.missing-envelope"),
        ("apiVersion: coordinator/v1\nkind: CoordinatorProject\n", "config.wrong-kind"),
        (
            "apiVersion: coordinator/v9\nkind: CoordinatorScenarios\n",
            "config.unsupported-api-version",
        ),
        ("apiVersion: coordinator/v1\nkind: CoordinatorScenarios\n", "config.missing-key"),
        (file_of(), "scenarios.invalid-length"),
        ("a: &x 1\nb: *x\n", "yaml.anchor"),
        ("a: [", "yaml.unexpected-end"),
    ],
)
def test_a_file_that_is_none_is_refused(text: str, code: str) -> None:
    assert code in codes(read(text).diagnostics)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    reading = load_suite(tmp_path / "scenarios.yaml", packaged().definition)
    assert codes(reading.diagnostics) == ["scenario.read"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "scenarios.yaml").symlink_to(EXAMPLE / "scenarios.yaml")
    reading = load_suite(tmp_path / "scenarios.yaml", packaged().definition)
    assert codes(reading.diagnostics) == ["scenario.read"]
