"""Problem documents (RFC 9457) of products: which answers are one, and the code they carry."""

from __future__ import annotations

import re

from activities.products.strict_json import parse_json
from activities.products.transport import HttpAnswer
from interpreter.contract.values import JsonValue

MEDIA_TYPE = "application/problem+json"
_TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


def trace_id(answer: HttpAnswer) -> str | None:
    """The trace id in an answer's ``traceparent`` (W3C Trace Context), None without a valid one."""
    match = _TRACEPARENT.fullmatch(answer.header(b"traceparent") or "")
    return match[1] if match is not None else None


def problem_code(answer: HttpAnswer, *, traced: bool) -> str | None:
    """The problem code of an answer, None if it is not a valid problem document.

    Its type, title, detail and status must be there, and the status must be the answer's own. A
    ``traced`` product also forbids caching and repeats its trace id. The code is
    the member ``code``, or the last segment of ``type``.
    """
    media_type = (answer.header(b"content-type") or "").split(";")[0].strip().lower()
    if media_type != MEDIA_TYPE or not answer.body:
        return None
    try:
        document = parse_json(answer.body)
    except ValueError:
        return None
    if not isinstance(document, dict) or document.get("status") != answer.status:
        return None
    if not all(isinstance(document.get(name), str) for name in ("type", "title")):
        return None
    if traced and not _agrees(document, answer):
        return None
    code = document.get("code", document["type"].rstrip("/").rpartition("/")[2])
    return code if isinstance(code, str) and code else None


def _agrees(document: dict[str, JsonValue], answer: HttpAnswer) -> bool:
    cached = not any("no-store" in value for value in answer.values(b"cache-control"))
    trace = trace_id(answer)
    return (
        not cached
        and isinstance(document.get("detail"), str)
        and trace is not None
        and document.get("traceId") == trace
    )
