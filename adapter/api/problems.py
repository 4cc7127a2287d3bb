"""Problem documents (RFC 9457): every code of the service, and errors turned into answers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from activities.errors import LedgerUnavailable
from adapter.access import RETRY_SECONDS, CallRefused, too_many
from adapter.errors import AdapterError, Refused
from interpreter.errors import CoordinatorError

MEDIA_TYPE = "application/problem+json"
_log = structlog.get_logger(__name__)


class Problem(BaseModel):
    """Why a request was not granted."""

    type: str = Field(description="Address of the page about this code, below this service")
    title: str = Field(description="The code in words; the same for every occurrence")
    status: int
    detail: str = Field(description="What happened this time; never a value of the request")
    code: str = Field(description="Stable, dotted; decide on this")
    place: str = Field("", description="Header, JSON pointer or id that the problem is about")
    remedy: str = Field("", description="What to do next")


@dataclass(frozen=True, slots=True)
class Kind:
    """What is the same for every occurrence of a code."""

    status: int
    title: str


KINDS: dict[str, Kind] = {
    "request.too-large": Kind(413, "The body is too large"),
    "request.too-slow": Kind(408, "The body does not come"),
    "request.address-too-long": Kind(414, "The address is too long"),
    "request.headers-too-large": Kind(431, "The headers are too large"),
    "access.unauthenticated": Kind(401, "The caller is not known"),
    "access.denied": Kind(403, "The caller may not do this"),
    "access.too-many-requests": Kind(429, "The caller asks too often"),
    "access.unavailable": Kind(503, "Nobody can tell now who calls"),
    "request.content-type": Kind(415, "The body is not JSON"),
    "request.invalid": Kind(400, "The request is malformed"),
    "idempotency.key-invalid": Kind(400, "The idempotency key is missing or malformed"),
    "idempotency.key-reused": Kind(409, "The idempotency key belongs to another request"),
    "workflow.unknown": Kind(404, "There is no such workflow"),
    "revision.not-active": Kind(409, "The revision is not the active one"),
    "admission.held": Kind(409, "Nothing is admitted now"),
    "admission.recovery-only": Kind(409, "The service runs for recovery only"),
    "recovery.not-attested": Kind(409, "The statements are not made"),
    "recovery.hold-required": Kind(409, "No restore hold stands"),
    "recovery.hold-active": Kind(409, "The restore hold stands"),
    "recovery.review-required": Kind(409, "Nobody reviews the hold yet"),
    "recovery.unresolved": Kind(409, "Something is in the way of the release"),
    "retention.invalid": Kind(400, "The instant or the limit can not be used"),
    "input.invalid": Kind(422, "The input does not fit the workflow"),
    "run.unknown": Kind(404, "There is no such run"),
    "act.reason-invalid": Kind(400, "The reason is missing or malformed"),
    "act.closed": Kind(409, "The run is over"),
    "act.effect-unknown": Kind(404, "The run has no such effect"),
    "act.effect-ambiguous": Kind(409, "The act does not say which effect it is about"),
    "act.payload-erased": Kind(409, "The saved command was erased"),
    "act.receipt-expired": Kind(409, "The product no longer keeps the key"),
    "act.deadline-reached": Kind(409, "The run's deadline is over"),
    "act.recovery-required": Kind(409, "The run has lost its execution"),
    "act.cancelled": Kind(409, "The run is cancelled"),
    "act.held": Kind(409, "A hold keeps effects from being sent"),
    "act.evaluation-uncertain": Kind(409, "An evaluation is never repeated"),
    "act.not-repeatable": Kind(409, "The command must not be repeated"),
    "act.withdrawn": Kind(409, "The package was withdrawn"),
    "act.busy": Kind(409, "The effect is being worked on"),
    "act.not-uncertain": Kind(409, "No effect is unknown"),
    "act.no-receipt": Kind(409, "The operation has no receipt"),
    "cursor.invalid": Kind(400, "The cursor is not one that a list gave"),
    "signal.unknown": Kind(404, "The workflow waits for no such signal"),
    "signal.invalid": Kind(422, "The payload does not fit the signal"),
    "signal.late": Kind(409, "No wait can take the signal any more"),
    "signal.too-many": Kind(409, "Too many signals wait for a wait"),
    "trigger.unknown": Kind(404, "The workflow has no such trigger"),
    "event.malformed": Kind(400, "The body is no CloudEvent"),
    "event.source-denied": Kind(403, "The event is of another source"),
    "event.type-unexpected": Kind(422, "The trigger takes another type of event"),
    "event.invalid": Kind(422, "The event does not fit the trigger"),
    "event.unmapped": Kind(422, "The trigger makes no input of the event"),
    "event.id-reused": Kind(409, "The event's id belongs to another event"),
    "event.replayed": Kind(409, "The very same message was taken before"),
    "event.signature-invalid": Kind(401, "The event is not signed as agreed"),
    "codec.encode-refused": Kind(403, "Payloads are not sealed here"),
    "codec.other-namespace": Kind(403, "The payloads are of another namespace"),
    "codec.other-origin": Kind(403, "A page of this origin may not ask"),
    "route.absent": Kind(404, "There is no such resource"),
    "route.method": Kind(405, "The resource has no such method"),
    "ledger.unavailable": Kind(503, "The ledger does not answer"),
    "ledger.write-refused": Kind(503, "The ledger does not let the service write"),
    "temporal.unavailable": Kind(503, "Temporal does not answer"),
    "internal.unexpected": Kind(500, "The service failed"),
}


def problem_answer(
    code: str,
    detail: str,
    *,
    status: int | None = None,
    place: str = "",
    remedy: str = "",
    headers: Iterable[tuple[str, str]] = (),
) -> JSONResponse:
    """The answer for one problem; an unlisted code keeps its name under a title by status."""
    kind = KINDS.get(code)
    status = status or (kind.status if kind else 500)
    title = kind.title if kind and kind.status == status else HTTPStatus(status).phrase
    problem = Problem(
        type=f"/problems/{code}",
        title=title,
        status=status,
        detail=detail,
        code=code,
        place=place,
        remedy=remedy,
    )
    answer = JSONResponse(problem.model_dump(), status_code=status, media_type=MEDIA_TYPE)
    for name, value in headers:
        answer.headers.append(name, value)
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        answer.headers["Retry-After"] = str(RETRY_SECONDS)
    return answer


def refused(code: str, detail: str, *, place: str = "", remedy: str = "") -> Refused:
    """A refusal with a listed code and its status, to raise inside a route."""
    return Refused(code, detail, place=place, remedy=remedy, status=KINDS[code].status)


def answer_with_problems(app: FastAPI, access: FailureCounter) -> None:
    """Make every error of ``app`` a problem document; who fails to say who calls is counted."""
    answering = _Answering(app, access)
    app.add_exception_handler(CoordinatorError, answering.of_our_own)
    app.add_exception_handler(RequestValidationError, answering.of_parameters)
    app.add_exception_handler(HTTPException, answering.of_routing)


class FailureCounter(Protocol):
    """Counts calls that do not say well who sends them."""

    def count_failure(self, peer: str, forwarded: list[str]) -> float:
        """0.0, or the seconds until the address may fail again."""
        ...


class _Answering:
    """Errors of one application turned into answers."""

    def __init__(self, app: FastAPI, access: FailureCounter) -> None:
        self._app = app
        self._access = access
        self._methods: list[tuple[re.Pattern[str], set[str]]] = []

    async def of_our_own(self, request: Request, error: Exception) -> JSONResponse:
        """An error with a code of ours."""
        assert isinstance(error, CoordinatorError)
        if isinstance(error, LedgerUnavailable):
            status = 503
        elif isinstance(error, AdapterError):
            status = error.status
        else:
            return surprise_answer(error, getattr(request.scope.get("route"), "path", ""))
        if status >= 500:
            _log.warning("request.unavailable", code=error.code, place=error.place)
        if status == HTTPStatus.UNAUTHORIZED and (flood := self._flood(request, error)):
            error, status = flood, flood.status
        return problem_answer(
            error.code,
            error.message,
            status=status,
            place=error.place,
            remedy=error.remedy,
            headers=error.headers if isinstance(error, CallRefused) else (),
        )

    def _flood(self, request: Request, error: CoordinatorError) -> CallRefused | None:
        """The refusal of an address that fails too often; what is not refused so is logged."""
        peer = "" if request.client is None else request.client.host
        forwarded = request.headers.getlist("X-Forwarded-For")
        wait = self._access.count_failure(peer, forwarded)
        if wait:
            return too_many(wait, "calls from this address have failed too often to say who calls")
        _log.info("request.unauthenticated", code=error.code, detail=error.message)
        return None

    async def of_parameters(self, request: Request, error: Exception) -> JSONResponse:
        """A parameter of path or query that FastAPI refuses."""
        assert isinstance(error, RequestValidationError)
        location = error.errors()[0]["loc"]
        return problem_answer(
            "request.invalid",
            "a parameter is missing, unknown or out of range",
            place="/".join(str(part) for part in location),
            remedy="see /openapi.json for its form",
        )

    async def of_routing(self, request: Request, error: Exception) -> JSONResponse:
        """An address or a method that is not served."""
        assert isinstance(error, HTTPException)
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            allowed = self._allowed(request.url.path)
            return problem_answer(
                "route.method",
                "this resource does not take the method",
                remedy="use one that Allow names",
                headers=(("Allow", ", ".join(sorted(allowed))),),
            )
        return problem_answer(
            "route.absent", "nothing is served at this address", remedy="see /openapi.json"
        )

    def _allowed(self, path: str) -> set[str]:
        """Every method of a path; the router itself would name those of one route alone."""
        if not self._methods:
            served = {**self._app.openapi()["paths"], "/openapi.json": {"get": {}, "head": {}}}
            for template, operations in served.items():
                methods = {method.upper() for method in operations}
                self._methods.append((compile_path(template)[0], methods))
        matching = (methods for pattern, methods in self._methods if pattern.match(path))
        return set().union(*matching)


def surprise_answer(error: Exception, route: str) -> JSONResponse:
    """The answer for a fault of the service itself, which is logged by its kind alone."""
    # A message may quote a value, so neither it nor a traceback goes anywhere.
    _log.error("request.failed", error=type(error).__qualname__, route=route)
    return problem_answer(
        "internal.unexpected",
        "the request met a fault of the service; whether it took effect is not known",
        remedy="repeat it with the same idempotency key, and report the fault",
    )
