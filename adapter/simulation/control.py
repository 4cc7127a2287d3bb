"""The author's side of a simulation: results to complete, failures to set, what was asked."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

from adapter.config.json_text import strict_json
from adapter.errors import AdapterError, Refused, Usage
from adapter.simulation import answers
from adapter.simulation.answers import Answer
from adapter.simulation.page import page
from adapter.simulation.plan import Failure
from adapter.simulation.playing import Playing
from adapter.simulation.routes import HttpRequest
from adapter.simulation.store import Awaited
from adapter.simulation.values import ABSENT
from interpreter.contract.values import JsonValue

_LOCAL = ("127.0.0.1", "localhost")


class Control:
    """Answers everything that is no product's address."""

    def __init__(self, playing: Playing) -> None:
        self._playing = playing

    def answer(self, request: HttpRequest) -> Answer | None:
        """The answer, or None for an address that is not ours."""
        if request.path == "/health":
            return Answer(200, {"live": True})
        if request.path != "/" and not request.path.startswith("/control/"):
            return None
        try:
            _require_local(request)
            return self._routed(request)
        except AdapterError as error:
            answer = answers.problem(error.status, error.code, error.message)
            more = {"place": error.place, "remedy": error.remedy}
            return Answer(answer.status, answer.body | more, answer.headers, answer.media_type)

    def _routed(self, request: HttpRequest) -> Answer | None:
        match request.method, request.path:
            case "GET", "/":
                return Answer(200, page(self._playing), (), "text/html; charset=utf-8")
            case "GET", "/control/state":
                return Answer(200, self.state())
            case "POST", "/control/failures":
                return self._fail(request)
            case "POST", "/control/completions":
                return self._complete(request)
            case _:
                return None

    def state(self) -> dict[str, JsonValue]:
        """Everything that a person may want to know, without any value of a request."""
        return {
            "workflow": self._playing.workflow,
            "completions": [_awaited(one) for one in self._playing.awaiting.every()],
            "failures": [one.to_json() for one in self._playing.failing.every()],
            "requests": [
                {
                    "step": one.step,
                    "operation": one.operation,
                    "connection": one.connection,
                    "answer": one.answer,
                }
                for one in self._playing.seen
            ],
        }

    def _fail(self, request: HttpRequest) -> Answer:
        """``{set: STEP=KIND}``, ``{clear: STEP}``, or ``{clear: ""}`` for every step."""
        body, form = _body(request)
        if isinstance(body.get("set"), str) and body["set"]:
            self._playing.failing.set(Failure.parse(body["set"]))
        elif isinstance(body.get("clear"), str):
            self._playing.failing.clear(body["clear"])
        else:
            raise _unusable()
        return _back() if form else Answer(200, self.state())

    def _complete(self, request: HttpRequest) -> Answer:
        """``{name?, value? | members?, gone?}``."""
        body, form = _body(request)
        name, members = body.get("name", ""), body.get("members")
        if not isinstance(name, str) or not isinstance(members, dict | None):
            raise _unusable()
        value = body.get("value", ABSENT)
        if form and isinstance(value, str):
            value = _typed_in(value)
        awaiting = self._playing.awaiting
        done = awaiting.complete(awaiting.find(name), value, members, gone=bool(body.get("gone")))
        return _back() if form else Answer(200, _awaited(done))


def _awaited(one: Awaited) -> dict[str, JsonValue]:
    return {
        "id": one.id,
        "wait": one.wait,
        "connection": one.connection,
        "state": one.standing.value,
        "value": one.value,
    }


def _require_local(request: HttpRequest) -> None:
    """A page of another site must not complete anything, under whatever name it found us."""
    host = request.headers.get("host", "")
    origin = request.headers.get("origin")
    named_well = host.rpartition(":")[0] in _LOCAL
    if not named_well or origin not in (None, "null", f"http://{host}"):
        raise Refused(
            "simulation.not-local",
            "only a client on this machine may do this",
            place="Origin" if named_well else "Host",
            remedy="use the address that `coordinatorctl dev` prints",
            status=403,
        )


def _body(request: HttpRequest) -> tuple[dict[str, Any], bool]:
    """The members of a JSON object or of a form, and whether it is a form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind == "application/x-www-form-urlencoded":
        fields = parse_qs(request.body.decode("utf-8", "replace"))
        return {name: values[0] for name, values in fields.items()}, True
    try:
        body = strict_json(request.body) if kind == "application/json" else None
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise _unusable()
    return body, False


def _typed_in(text: str) -> JsonValue:
    try:
        return strict_json(text.encode())
    except ValueError as error:
        raise Usage(
            "simulation.value-unreadable",
            "the value is not JSON",
            place="value",
            remedy="write JSON, or leave it empty to have a value made up",
        ) from error


def _unusable() -> Usage:
    return Usage(
        "simulation.request-invalid",
        "the request is not understood",
        remedy="use `coordinatorctl complete` and `coordinatorctl fail`",
    )


def _back() -> Answer:
    return Answer(303, None, (("location", "/"),))
