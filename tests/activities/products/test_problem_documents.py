"""Which answers are a product's own problem document."""

from __future__ import annotations

import json
from typing import Any

import pytest

from activities.products.problem_documents import problem_code
from activities.products.transport import HttpAnswer
from tests.activities.wire import TRACE_ID, TRACEPARENT

_DOCUMENT = {
    "type": "https://problems.example.org/slot-taken",
    "title": "Slot taken",
    "status": 409,
    "detail": "Choose another one.",
    "traceId": TRACE_ID,
    "code": "slot-taken",
}
_HEADERS = {
    "content-type": "application/problem+json",
    "cache-control": "no-store",
    "traceparent": TRACEPARENT,
}


def _answer(document: Any = _DOCUMENT, headers: dict[str, str] = _HEADERS) -> HttpAnswer:
    pairs = tuple((name.encode(), value.encode()) for name, value in headers.items())
    return HttpAnswer(409, pairs, json.dumps(document).encode())


def test_a_whole_document_carries_its_code() -> None:
    assert problem_code(_answer(), traced=True) == "slot-taken"


def test_without_a_code_the_end_of_its_type_counts() -> None:
    document = {key: value for key, value in _DOCUMENT.items() if key != "code"}
    assert problem_code(_answer(document), traced=True) == "slot-taken"


@pytest.mark.parametrize(
    "change",
    [
        {"status": 400},
        {"status": None},
        {"type": 7},
        {"title": None},
        {"detail": None},
        {"traceId": "0" * 32},
        {"code": 7},
        {"code": ""},
    ],
)
def test_a_document_that_disagrees_is_none(change: dict[str, Any]) -> None:
    assert problem_code(_answer({**_DOCUMENT, **change}), traced=True) is None


@pytest.mark.parametrize(
    "change",
    [
        {"content-type": "application/json"},
        {"cache-control": "max-age=60"},
        {"traceparent": "00-xyz-01"},
        {"traceparent": f"00-{'a' * 32}-00f067aa0ba902b7-01"},
    ],
)
def test_headers_that_disagree_make_it_none(change: dict[str, str]) -> None:
    assert problem_code(_answer(headers={**_HEADERS, **change}), traced=True) is None


def test_a_product_without_traces_needs_less() -> None:
    document = {key: _DOCUMENT[key] for key in ("type", "title", "status")}
    headers = {"content-type": "application/problem+json; charset=utf-8"}
    assert problem_code(_answer(document, headers), traced=False) == "slot-taken"


@pytest.mark.parametrize("body", [None, b"", b"[]", b"{", b'{"status": 409, "status": 409}'])
def test_other_bytes_are_none(body: bytes | None) -> None:
    answer = HttpAnswer(409, ((b"content-type", b"application/problem+json"),), body)
    assert problem_code(answer, traced=False) is None
