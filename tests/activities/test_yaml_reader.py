"""The strict YAML reader: what it reads, and what it refuses by which code and where."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.yaml.problems import Problem, Problems
from activities.yaml.reader import LARGEST_FILE_BYTES, read_yaml
from interpreter.contract.values import JsonValue


def _place(one: Problem) -> tuple[int, int, str]:
    return one.spot.line, one.spot.column, one.code


def refusals(data: bytes | str) -> list[tuple[str, int, int]]:
    """Code, line and column of every finding."""
    report = Problems()
    read_yaml(data.encode() if isinstance(data, str) else data, "workflow.yaml", report)
    return [(one.code, one.spot.line, one.spot.column) for one in sorted(report.found, key=_place)]


def value(text: str) -> JsonValue:
    """What a text without findings holds."""
    report = Problems()
    tree, _ = read_yaml(text.encode(), "workflow.yaml", report)
    assert report.found == []
    assert tree is not None
    return tree.to_json()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: {c: [true, null, ~]}", {"a": 1, "b": {"c": [True, None, None]}}),
        ("a: yes\nb: on\nc: NO", {"a": "yes", "b": "on", "c": "NO"}),
        ("a: 1.5\nb: 1e3\nc: -0.25\nd: +7", {"a": 1.5, "b": 1000.0, "c": -0.25, "d": 7}),
        ("a: 09:30\nb: 1_000\nc: 1:30", {"a": "09:30", "b": "1_000", "c": "1:30"}),
        ("a: '012'\nb: \"null\"", {"a": "012", "b": "null"}),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}),
        ("'1': a\n\"<<\": b", {"1": "a", "<<": "b"}),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text: str, expected: JsonValue) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("a: 1\na: 2", "yaml.duplicate-key", 2, 1),
        ("a: &x 1", "yaml.anchor", 1, 4),
        ("a: *x", "yaml.alias", 1, 4),
        ("a: *", "yaml.alias", 1, 4),
        ("a:\n  <<: {b: 1}", "yaml.merge-key", 2, 3),
        ("a: !!str 1", "yaml.tag", 1, 4),
        ("%YAML 1.2\n---\na: 1", "yaml.tag", 1, 1),
        ("1: a", "yaml.non-string-key", 1, 1),
        ("? [a]\n: b", "yaml.non-string-key", 1, 3),
        ("a: 1\n---\nb: 1", "yaml.multiple-documents", 2, 1),
        ("a: [1, 2", "yaml.unexpected-end", 1, 4),
        ("a: 'b", "yaml.unclosed-quote", 1, 4),
        ('a: "\\q"', "yaml.invalid-escape", 1, 4),
        ('a: "\\ud800"', "yaml.invalid-escape", 1, 4),
        ("a: 'it's'", "yaml.text-after-quote", 1, 8),
        ("a: b: c", "yaml.colon-in-plain-value", 1, 5),
        ("a:\n\tb: 1", "yaml.tab-indentation", 2, 1),
        ("a: [1,\n\t2]", "yaml.tab-indentation", 2, 1),
        ("a: b\x07", "yaml.control-character", 1, 5),
        ("a: b\x00", "yaml.control-character", 1, 5),
        ("a: ${NAME}", "config.substitution-not-allowed", 1, 4),
        ("a: {b: c\nd: e", "yaml.syntax", 2, 2),
        ("a: 99999999999999999999", "config.out-of-range", 1, 4),
        ("a: 1e999", "config.out-of-range", 1, 4),
        ("", "config.missing-envelope", 1, 1),
    ],
)
def test_each_refusal_has_a_code_and_a_place(text: str, code: str, line: int, column: int) -> None:
    assert refusals(text) == [(code, line, column)]


@pytest.mark.parametrize(
    "number", ["0123", "-01", "01.5", ".5", "5.", "0x1F", "0o17", "0b1", ".inf", "-.INF", ".nan"]
)
def test_a_number_that_yaml_versions_read_differently_is_refused(number: str) -> None:
    assert refusals(f"a: {number}") == [("yaml.ambiguous-number", 1, 4)]


def test_independent_refusals_are_reported_together() -> None:
    found = refusals("a: &x 1\nb: 012\nc: !t 3\nd: 1\nd: 2\n")
    assert [code for code, _, _ in found] == [
        "yaml.anchor",
        "yaml.ambiguous-number",
        "yaml.tag",
        "yaml.duplicate-key",
    ]


def test_bytes_that_are_not_utf8_are_refused_where_they_begin() -> None:
    assert refusals(b"a: 1\nb: \xff") == [("yaml.not-utf8", 2, 4)]


def test_a_byte_order_mark_and_carriage_returns_change_nothing() -> None:
    report = Problems()
    tree, _ = read_yaml(b"\xef\xbb\xbfa: 1\r\nb: [&x 2]\r\n", "workflow.yaml", report)
    assert [(one.spot.line, one.spot.column) for one in sorted(report.found, key=_place)] == [
        (2, 5)
    ]
    assert tree is not None
    assert tree.to_json() == {"a": 1, "b": [2]}


@pytest.mark.parametrize("opener", ["[", "{", "- ", "a: {", "? "])
def test_a_megabyte_of_open_brackets_is_refused_at_once(opener: str) -> None:
    begun = time.monotonic()
    found = refusals(opener * (LARGEST_FILE_BYTES // len(opener)))
    assert found
    assert found[-1][0].startswith("yaml.")
    assert time.monotonic() - begun < 10


def test_a_file_over_the_limit_is_not_parsed() -> None:
    assert refusals(b"\xff" * (LARGEST_FILE_BYTES + 1)) == [("yaml.too-large", 1, 1)]


def test_128_levels_are_read_and_129_are_not() -> None:
    assert refusals("[" * 128 + "]" * 128) == []
    assert refusals("[" * 129 + "]" * 129) == [("yaml.too-deep", 1, 129)]


def test_a_bomb_of_aliases_is_refused_without_being_expanded() -> None:
    lines = ["a0: &a0 [x]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 30)]
    assert {code for code, _, _ in refusals("\n".join(lines))} == {"yaml.anchor", "yaml.alias"}


@given(st.binary(max_size=200))
def test_any_bytes_give_findings_or_a_tree(data: bytes) -> None:
    report = Problems()
    tree, _ = read_yaml(data, "workflow.yaml", report)
    assert tree is not None or report.found


@given(st.text(alphabet="ab:-[]{}'\"&*!?|>%@`#,\n\t \\0159.x~<$", max_size=120))
def test_any_text_gives_findings_with_places_inside_it(text: str) -> None:
    report = Problems()
    tree, source = read_yaml(text.encode(), "workflow.yaml", report)
    assert tree is not None or report.found
    assert source is not None
    for one in report.found:
        assert 1 <= one.spot.line <= len(source.lines) + 1
