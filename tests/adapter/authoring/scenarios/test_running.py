"""Playing suites: what passes, what fails and how that is told."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest

from adapter.authoring.scenarios import (
    SuiteResult,
    TextReport,
    load_suite,
    render_junit,
    run_suite,
    suite_document,
)
from tests.adapter.authoring.scenarios.suites import (
    EXAMPLE,
    changed,
    codes,
    packaged,
    run,
    suite,
)

WRONG: dict[str, Any] = changed("expect", {"state": "finished", "output": {"messageId": "M-2"}})
OFF = changed("expect.path", ["application", "review", "result", "decision", "rejected"])
BROKEN = changed("replies.review.0.value.revision", "one")


def test_every_scenario_of_the_example_passes_and_every_way_out_is_taken() -> None:
    found = load_suite(EXAMPLE / "scenarios.yaml", packaged().definition).suite
    assert found is not None
    result = run_suite(packaged(), found)
    assert [one.case.id for one in result.failed] == []
    assert result.coverage.untaken == ()


def test_a_difference_has_the_place_of_the_expectation() -> None:
    (one,) = run({**WRONG, "id": "wrong"}).cases
    (finding,) = one.findings
    assert (finding.code, finding.spot.pointer) == (
        "coordinator.scenario.expectation",
        "/cases/0/expect/output/messageId",
    )
    assert (one.differences[0].expected, one.differences[0].actual) == ("M-2", "M-1")


def test_a_finding_never_shows_a_value() -> None:
    (one,) = run(WRONG).cases
    assert "M-2" not in one.findings[0].message + one.findings[0].remedy


@pytest.mark.parametrize(
    ("path", "value", "code", "pointer"),
    [
        ("replies.review.0.value.revision", "one", "response", "/replies/review/0/value/revision"),
        ("completions.0.value.decision", "maybe", "response", "/completions/0/value/decision"),
        ("replies.notice", None, "reply", "/replies"),
        ("input", {"id": 1}, "definition.input", "/input"),
    ],
)
def test_a_case_that_can_not_be_played_says_where(
    path: str, value: Any, code: str, pointer: str
) -> None:
    (one,) = run(changed(path, value)).cases
    assert not one.passed
    assert one.findings[0].code.endswith(code)
    assert one.findings[0].spot.pointer == f"/cases/0{pointer}"


def test_a_function_that_fails_ends_the_run_as_failed() -> None:
    odd = {"data": {"domainData": {"applicant": 5}}}
    case = changed("replies.application.0.value", odd)
    (one,) = run(case).cases
    assert one.trace is not None
    assert (one.trace.state, one.trace.failure_code) == ("failed", "function.execution")


def test_what_was_not_used_is_a_warning() -> None:
    case = changed("cancel", {"afterSeconds": 3600})
    (one,) = run(case).cases
    assert one.passed
    assert codes(one.findings) == ["scenario.unused"]


def test_only_the_wanted_cases_are_played() -> None:
    cases = [{**changed(), "id": "one"}, {**changed(), "id": "two"}]
    seen: list[tuple[int, int]] = []
    result = run_suite(
        packaged(), suite(*cases), only=["two"], progress=lambda *done: seen.append(done)
    )
    assert [one.case.id for one in result.cases] == ["two"]
    assert seen == [(1, 1)]


def test_coverage_names_what_no_case_takes() -> None:
    untaken = {(one.node, one.outlet) for one in run(changed()).coverage.untaken}
    assert ("result", "expired") in untaken
    assert ("decision", "approved") not in untaken


def report(result: SuiteResult) -> str:
    """The text report."""
    return TextReport(folder="here", coverage=True).render(result)


def test_the_text_report_shows_where_the_paths_part() -> None:
    text = report(run(OFF))
    actual, caret = text.splitlines()[3:5]
    assert actual.index("notice") == caret.index("^")
    assert "FAIL  approved  (here/scenarios.yaml:" in text


def test_the_text_report_shows_both_values_and_what_happened() -> None:
    text = report(run(WRONG))
    assert 'expected  "M-2"' in text
    assert 'actual    "M-1"' in text
    assert "leaves through `approved`" in text
    assert text.endswith("s\n")


def test_the_text_report_of_a_passing_case_is_one_line() -> None:
    text = report(run(changed()))
    assert text.startswith("pass  approved  notified after 1 min\n\ncoverage: 5 of 19 ")


def test_the_json_report_leaves_out_the_side_that_has_nothing() -> None:
    document = suite_document(run(changed("expect.path", ["application"])))
    json.dumps(document)
    first = document["cases"][0]["differences"][0]
    assert (first["path"], "expected" in first) == ("/cases/0/expect/path/1", False)
    assert (document["status"], document["failed"]) == ("failed", 1)


def test_junit_tells_failures_from_cases_that_can_not_be_played() -> None:
    cases = [{**one, "id": f"case{number}"} for number, one in enumerate((WRONG, BROKEN))]
    root = ElementTree.fromstring(render_junit(run(changed(), *cases), "reviewed-notice"))
    found = root.find("testsuite")
    assert found is not None
    counts = [found.get(name) for name in ("tests", "failures", "errors")]
    assert counts == ["3", "1", "1"]
    assert [len(case) for case in found] == [0, 1, 1]


def test_junit_holds_no_character_that_xml_has_not() -> None:
    case = changed("expect", {"state": "finished", "output": {"messageId": "\u2028\\u0007"}})
    ElementTree.fromstring(render_junit(run(case), "x"))
