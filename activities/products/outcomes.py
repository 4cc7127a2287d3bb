"""From an answer, or its lack, to a classified reply by the tables of the operation."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import parsedate_to_datetime

from activities.catalogue import CatalogueEntry, Situation
from activities.catalogue.schemas import Check
from activities.products.problem_documents import problem_code, trace_id
from activities.products.strict_json import parse_json
from activities.products.transport import Failure, HttpAnswer
from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.values import JsonValue

LONGEST_RETRY_AFTER_SECONDS = 31_536_000.0
_PLAIN = re.compile(r"application/json")
_JSON = re.compile(r"application/([!-.0-:<-~]+\+)?json")


@dataclass(frozen=True, slots=True)
class Sent:
    """The classified outcome of one attempt.

    ``receipt`` is the product's proof of an accepted command; ``retry_after`` the product's own
    delay in seconds of a retryable answer; ``place`` the JSON pointer of the first misfit
    (``request`` or ``response`` first), for people: it holds no value.
    """

    reply: Reply
    receipt: JsonValue = None
    retry_after: float | None = None
    place: str = ""


class Malformed(Exception):
    """A whole answer that is not what the product promises; the text is the place."""


_SITUATIONS: dict[Failure, Situation] = {
    Failure.DESTINATION: Situation.DESTINATION_REFUSED,
    Failure.NOT_SENT: Situation.NOT_SENT,
    Failure.LOST: Situation.LOST,
}


def in_situation(entry: CatalogueEntry, situation: Situation, place: str = "") -> Sent:
    """What an operation reports for a situation."""
    outcome = entry.outcome(situation)
    return Sent(Reply(outcome.kind, code=outcome.code), place=place)


def after_failure(entry: CatalogueEntry, failure: Failure) -> Sent:
    """What an operation reports when no whole answer came."""
    return in_situation(entry, _SITUATIONS[failure])


def classify(
    entry: CatalogueEntry, answer: HttpAnswer, fits: Check, refusals: frozenset[str] | None = None
) -> Sent:
    """Classify a whole answer.

    ``fits`` checks the output. ``refusals`` are refusal codes that the product declared for this
    very call, whatever their 4xx status; without them those of the catalogue count.
    """
    if answer.status in entry.http.success:
        try:
            output = read_output(entry, answer, fits)
        except Malformed as fault:
            return in_situation(entry, Situation.MALFORMED, str(fault))
        receipt = output if entry.contract.receipt else None
        return Sent(Reply(ReplyKind.ACCEPTED, output), receipt)
    return refusal(entry, answer, refusals)


def refusal(
    entry: CatalogueEntry, answer: HttpAnswer, refusals: frozenset[str] | None = None
) -> Sent:
    """Classify an answer that is no success."""
    code = problem_code(answer, traced=entry.http.traced)
    if code is not None and _is_declared(entry, answer.status, code, refusals):
        return Sent(Reply(ReplyKind.DECLARED_REFUSAL, code=code))
    for rule in entry.rules:
        if rule.matches(answer.status, code):
            sent = Sent(Reply(rule.kind, code=rule.code))
            return with_retry_after(sent, answer)
    if 300 <= answer.status <= 399:
        return in_situation(entry, Situation.REDIRECT)
    situation = Situation.MALFORMED if code is None else Situation.REFUSED
    return with_retry_after(in_situation(entry, situation), answer)


def read_output(entry: CatalogueEntry, answer: HttpAnswer, fits: Check) -> JsonValue:
    """The checked output of a success; Malformed with the place of what is wrong."""
    for name in entry.http.response_headers:
        if not any(answer.values(name.lower().encode("ascii"))):
            raise Malformed(f"response header {name.lower()}")
    if entry.http.traced and trace_id(answer) is None:
        raise Malformed("response header traceparent")
    output = read_body(answer)
    misfit = fits(output)
    if misfit is not None:
        raise Malformed(f"response {misfit}")
    return output


def read_body(answer: HttpAnswer, *, plain: bool = False) -> JsonValue:
    """The JSON of an answer, null for an empty body; Malformed for anything else.

    Media types are ``application/json`` and, unless ``plain``, its relatives ending in ``+json``.
    """
    if answer.body is None:
        raise Malformed("response body: too large")
    if not answer.body:
        return None
    media_type, _, parameters = (answer.header(b"content-type") or "").lower().partition(";")
    charset = parameters.replace(" ", "").replace('"', "")
    known = _PLAIN if plain else _JSON
    if not known.fullmatch(media_type.strip()) or charset not in ("", "charset=utf-8"):
        raise Malformed("response header content-type")
    if answer.header(b"content-encoding") not in (None, "identity"):
        raise Malformed("response header content-encoding")
    try:
        return parse_json(answer.body)
    except ValueError as error:
        raise Malformed("response body: not strict JSON") from error


def with_retry_after(sent: Sent, answer: HttpAnswer) -> Sent:
    """The outcome with the product's own delay, if it is retryable and the product named one."""
    if sent.reply.kind is not ReplyKind.RETRYABLE:
        return sent
    return replace(sent, retry_after=retry_after(answer.header(b"retry-after"), time.time()))


def retry_after(header: str | None, now: float) -> float | None:
    """Seconds from a ``Retry-After`` header (seconds or HTTP-date), None if it has no meaning."""
    if header is None:
        return None
    text = header.strip()
    try:
        seconds = float(text) if text.isascii() and text.replace(".", "", 1).isdigit() else None
        if seconds is None:
            at = parsedate_to_datetime(text)
            # The oldest form of a date names no zone, and means GMT (RFC 9110, section 5.6.7).
            seconds = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() - now
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER_SECONDS)


def _is_declared(
    entry: CatalogueEntry, status: int, code: str, refusals: frozenset[str] | None
) -> bool:
    if refusals is not None:
        return code in refusals and 400 <= status <= 499
    # What the definition did not pin has no way out of its call.
    return entry.http.refusals.get(code) == status and code in entry.contract.refusals
