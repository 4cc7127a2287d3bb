"""Which bytes are one JSON value that can be kept."""

from __future__ import annotations

import pytest

from activities.products.strict_json import parse_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a": [1, 2.5, "x", null, true]}', {"a": [1, 2.5, "x", None, True]}),
        (b"9007199254740992", 2**53),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b" null ", None),
        (b"[" * 32 + b"]" * 32, None),
    ],
)
def test_json_is_read(text: bytes, value: object) -> None:
    read = parse_json(text)
    assert read == value or value is None


@pytest.mark.parametrize(
    "text",
    [
        b'{"a": 1, "a": 2}',
        b'{"o": {"a": 1, "a": 1}}',
        b"NaN",
        b"[Infinity]",
        b"1e999",
        b"9007199254740993",
        b'"\\ud800"',
        b'{"\\udfff": 1}',
        b"{} {}",
        b"",
        b"{'a': 1}",
        b"\xff",
        b"\xef\xbb\xbf{}",
        b"[" * 34 + b"]" * 34,
        b"[" * 60_000,
        b"[" * 9_000 + b"]" * 9_000,
        b"1" * 5_000,
    ],
)
def test_anything_else_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the text of the error never reaches anybody
        parse_json(text)
