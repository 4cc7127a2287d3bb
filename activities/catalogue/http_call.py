"""HTTP facts of an operation: how its request is written and how each answer is classified."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from interpreter.contract.effects import ReplyKind
from interpreter.contract.operations import EffectClass
from interpreter.contract.values import Document

_MEMBER_IN_PATH = re.compile(r"\{([A-Za-z][A-Za-z0-9_]*)\}")

Code = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=64)]
"""A short reply code: lower-case words joined by hyphens."""

ProblemCode = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9.-]*$", max_length=128)]
"""A problem code as the product spells it."""

StatusPattern = Annotated[str, StringConstraints(pattern=r"^([1-5][0-9]{2}|[345]xx)$")]
"""A status (``"429"``) or a class of them (``"5xx"``)."""

PathTemplate = Annotated[str, StringConstraints(pattern=r"^/[^?#\s]*$", max_length=512)]
"""A path with ``{member}`` where a top-level member of the input belongs."""

HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9-]*$", max_length=64)]

Classified = Literal[
    ReplyKind.DECLARED_REFUSAL,
    ReplyKind.REFUSED,
    ReplyKind.RETRYABLE,
    ReplyKind.UNKNOWN,
    ReplyKind.RECEIPT_EXPIRED,
]
"""The kinds that an answer other than a success may have."""


class Situation(StrEnum):
    """What can happen around a request besides an answer that a rule knows."""

    INVALID_COMMAND = "invalid-command"
    """The input does not fit the request; nothing was sent."""
    DESTINATION_REFUSED = "destination-refused"
    """The address may not be called; nothing was sent."""
    NOT_SENT = "not-sent"
    """No byte of the request was written."""
    LOST = "lost"
    """The request may have been sent and no whole answer came back."""
    REDIRECT = "redirect"
    """A 3xx answer; it is never followed."""
    MALFORMED = "malformed"
    """A whole answer that is not what the product promises."""
    REFUSED = "refused"
    """A valid problem document that no rule names."""


class Outcome(Document):
    """The class and code that a situation is reported with."""

    kind: Classified
    code: Code


class Rule(Document):
    """One row of a classification table; the first that matches decides.

    It matches an answer whose status is among ``status`` (any if empty) and whose problem code is
    among ``problem`` (any if empty). Unless ``any_body`` is set, the answer must be a valid
    problem document.
    """

    status: tuple[StatusPattern, ...] = ()
    problem: tuple[ProblemCode, ...] = ()
    any_body: bool = False
    kind: Classified
    code: Code

    def matches(self, status: int, problem: str | None) -> bool:
        """Whether an answer with this status and problem code (None without one) is meant."""
        if problem is None and not self.any_body:
            return False
        if self.problem and problem not in self.problem:
            return False
        return not self.status or str(status) in self.status or f"{status // 100}xx" in self.status


@cache
def default_outcomes(effect: EffectClass) -> Mapping[Situation, Outcome]:
    """The outcomes of an effect class where the document says nothing.

    What was certainly not sent is retryable for every class; what was lost or can not be read is
    harmless only for a read.
    """
    uncertain = Outcome(kind=ReplyKind.UNKNOWN, code="transport-uncertain")
    unavailable = Outcome(kind=ReplyKind.RETRYABLE, code="transport-unavailable")
    invalid = Outcome(kind=ReplyKind.REFUSED, code="invalid-response")
    read = effect is EffectClass.READ
    return {
        Situation.INVALID_COMMAND: Outcome(kind=ReplyKind.REFUSED, code="invalid-command"),
        Situation.DESTINATION_REFUSED: Outcome(kind=ReplyKind.REFUSED, code="destination-refused"),
        Situation.NOT_SENT: unavailable,
        Situation.LOST: unavailable if read else uncertain,
        Situation.REDIRECT: invalid if read else uncertain,
        Situation.MALFORMED: invalid if read else uncertain,
        Situation.REFUSED: Outcome(kind=ReplyKind.REFUSED, code="product-refused"),
    }


@cache
def default_rules(effect: EffectClass, key: bool) -> tuple[Rule, ...]:
    """The rows that follow a document's own classification.

    A status alone tells that a read may be repeated; of anything else only a valid problem
    document tells that it was not applied.
    """
    read = effect is EffectClass.READ
    late = ReplyKind.RETRYABLE if read else ReplyKind.UNKNOWN
    late_code = "transport-unavailable" if read else "transport-uncertain"
    expired = Rule(
        status=("410",),
        problem=("idempotency-expired", "idempotency.expired"),
        kind=ReplyKind.RECEIPT_EXPIRED,
        code="receipt-expired",
    )
    return (
        *((expired,) if key else ()),
        Rule(status=("429",), any_body=read, kind=ReplyKind.RETRYABLE, code="rate-limited"),
        Rule(status=("408", "5xx"), any_body=True, kind=late, code=late_code),
        Rule(status=("401", "403"), kind=ReplyKind.REFUSED, code="product-forbidden"),
        Rule(status=("404",), kind=ReplyKind.REFUSED, code="product-not-found"),
    )


class QuerySource(Document):
    """Where a query parameter comes from: a member of the input or a connection's setting."""

    member: str | None = None
    setting: Literal["profile"] | None = None


class BodySource(Document):
    """The JSON body: an object of the named ``members`` that are present, or one ``member``."""

    members: tuple[str, ...] | None = None
    member: str | None = None


class ReceiptRead(Document):
    """How the receipt of an earlier command is read, with its key and its body.

    ``unresolved`` are the problem codes that mean "nothing is on record".
    """

    method: Literal["GET", "POST"] = "POST"
    path: PathTemplate
    success: tuple[Annotated[int, Field(ge=200, le=299)], ...] = (200,)
    unresolved: tuple[ProblemCode, ...] = ()


class HttpCall(Document):
    """One request and the meaning of its answers.

    ``traced`` products put a ``traceparent`` on every answer and agree with it in their problem
    documents. ``grant`` names the input member that carries a task grant; it is never part of
    path, query or body. ``response_headers`` must be on a success.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: PathTemplate
    query: dict[str, QuerySource] = Field(default_factory=dict)
    body: BodySource | None = None
    grant: str | None = None
    idempotency_header: HeaderName = "Idempotency-Key"
    success: tuple[Annotated[int, Field(ge=200, le=299)], ...] = (200,)
    response_headers: tuple[HeaderName, ...] = ()
    traced: bool = False
    refusals: dict[ProblemCode, Annotated[int, Field(ge=400, le=499)]] = Field(default_factory=dict)
    classification: tuple[Rule, ...] = ()
    outcomes: dict[Situation, Outcome] = Field(default_factory=dict)
    receipt: ReceiptRead | None = None
    timeout_milliseconds: int = Field(default=2_000, ge=1, le=60_000)
    maximum_response_bytes: int = Field(default=65_536, ge=1, le=65_536)

    def used_members(self) -> frozenset[str]:
        """Every top-level input member that goes somewhere."""
        used = {*path_members(self.path), self.grant}
        used |= {source.member for source in self.query.values()}
        if self.body is not None:
            used |= {*(self.body.members or ()), self.body.member}
        return frozenset(member for member in used if member is not None)


def path_members(template: str) -> tuple[str, ...]:
    """The input members that a path template names, in order."""
    return tuple(_MEMBER_IN_PATH.findall(template))


def fill_path(template: str, values: Mapping[str, str]) -> str:
    """The template with each ``{member}`` replaced by its already encoded value."""
    return _MEMBER_IN_PATH.sub(lambda match: values[match[1]], template)
