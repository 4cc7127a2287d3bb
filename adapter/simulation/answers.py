"""What goes back on the wire: successes, problem documents, and a closed connection."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from activities.catalogue import CatalogueEntry, HttpCall
from interpreter.contract.effects import ReplyKind
from interpreter.contract.values import JsonValue

_PROBLEMS = "https://problems.example.org/"
_STATUSES = (422, 409, 400, 404, 403, 410, 412, 500, 503, 429, 408)
_EXPIRED = "idempotency-expired"


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer, as it is sent."""

    status: int
    body: JsonValue
    headers: tuple[tuple[str, str], ...] = ()
    media_type: str = "application/json"


class Lost:
    """No answer: the connection closes."""


LOST = Lost()


def success(http: HttpCall, value: JsonValue, status: int | None = None) -> Answer:
    """An accepted answer with every header that the contract promises."""
    given = {"etag": '"1"', "link": '<urn:simulated>; rel="self"'}
    headers = [
        (name.lower(), given.get(name.lower(), "simulated")) for name in http.response_headers
    ]
    return Answer(http.success[0] if status is None else status, value, tuple(headers))


def problem(status: int, code: str, detail: str, *headers: tuple[str, str]) -> Answer:
    """A problem document (RFC 9457); its trace id is added when it is sent."""
    document = {
        "type": f"{_PROBLEMS}{code}",
        "title": code.replace("-", " ").capitalize(),
        "status": status,
        "detail": detail,
        "code": code,
    }
    fixed = ("cache-control", "no-store")
    return Answer(status, document, (fixed, *headers), "application/problem+json")


def rate_limited() -> Answer:
    """429, to be tried again after a second."""
    detail = "Wait before the next request."
    return problem(429, "rate-limited", detail, ("retry-after", "1"))


def unavailable() -> Answer:
    """503."""
    return problem(503, "unavailable", "Try again later.")


def refused(entry: CatalogueEntry, code: str) -> Answer:
    """A refusal by the product with a problem code, declared or not."""
    status = entry.http.refusals.get(code, 409)
    return problem(status, code, "The simulated owner refuses this request.")


def classified(entry: CatalogueEntry, kind: ReplyKind, code: str) -> Answer | Lost:
    """An answer that the operation's tables classify as ``kind``, with ``code`` if there is one.

    What no answer can say (a retryable failure of a command is one that was never sent) becomes
    the nearest answer of the kind.
    """
    if kind is ReplyKind.UNKNOWN:
        return LOST
    if kind is ReplyKind.DECLARED_REFUSAL:
        return refused(entry, code)
    if kind is ReplyKind.RECEIPT_EXPIRED:
        return problem(410, _EXPIRED, "The receipt window of this key is over.")
    found: Answer | None = None
    for status, named in _candidates(entry):
        said = _classification(entry, status, named)
        if said[0] is kind:
            answer = problem(status, named, "The simulated product answers as the case says.")
            if said[1] == code:
                return answer
            found = found or answer
    return found or (rate_limited() if kind is ReplyKind.RETRYABLE else refused(entry, "refused"))


def _candidates(entry: CatalogueEntry) -> list[tuple[int, str]]:
    named = {rule_code for rule in entry.rules for rule_code in rule.problem}
    plain = [(status, "simulated") for status in _STATUSES]
    return [*plain, *((status, name) for name in sorted(named) for status in _STATUSES)]


def _classification(entry: CatalogueEntry, status: int, code: str) -> tuple[ReplyKind, str]:
    for rule in entry.rules:
        if rule.matches(status, code):
            return rule.kind, rule.code
    return ReplyKind.REFUSED, "product-refused"


def encoded(answer: Answer, traceparent: str) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Headers and body as they go on the wire, with the trace that a problem document repeats."""
    body = answer.body
    if answer.media_type == "application/problem+json":
        body = {**body, "traceId": traceparent.split("-")[1]}
    html = answer.media_type.startswith("text/html")
    data = str(body).encode() if html else json.dumps(body, ensure_ascii=False).encode()
    headers = [
        ("content-type", answer.media_type),
        ("traceparent", traceparent),
        *answer.headers,
        ("content-length", str(len(data))),
    ]
    return [(name.encode(), value.encode("latin-1")) for name, value in headers], data


def trace_for(received: str, seed: str) -> str:
    """A ``traceparent`` (W3C Trace Context) that goes on with the caller's trace if it has one."""
    parts = received.split("-")
    fresh = hashlib.sha256(seed.encode()).hexdigest()
    known = len(parts) == 4 and len(parts[1]) == 32 and parts[1].strip("0")
    usable = known and all(digit in "0123456789abcdef" for digit in parts[1])
    return f"00-{parts[1] if usable else fresh[:32]}-{fresh[32:48]}-01"
