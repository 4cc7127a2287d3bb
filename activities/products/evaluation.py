"""Typed questions to a decision model, in two protocols.

Preparation is offline and gives the exact bytes of the request. There is no idempotency key: a
call that may have been sent is never repeated.
"""

from __future__ import annotations

from activities.catalogue import Situation
from activities.errors import ConnectionFault
from activities.products.calls import Call
from activities.products.evaluation_answers import InvalidAnswer, read_evaluation
from activities.products.http_requests import CommandRefused, body_request
from activities.products.outcomes import Malformed, Sent, after_failure, read_body, refusal
from activities.products.settings import ConnectionSettings
from activities.products.transport import Failure
from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.values import JsonValue, canonical_bytes
from interpreter.errors import DefinitionError

_PATHS = {"system-one": "/v1/systemone", "openai-decisions": "/v1/decisions"}


class Evaluation:
    """``evaluation.evaluate/v1``."""

    async def prepare(self, call: Call) -> JsonValue:
        """The request's body as canonical JSON text; CommandRefused if it is too large."""
        return _body_text(call)

    async def send(self, call: Call) -> Sent:
        """POST the prepared bytes, which must still be those of the input."""
        protocol = _protocol(call.line.settings, call.line.name)[0]
        text = _body_text(call)
        if call.preparation != text:
            raise CommandRefused("preparation")
        answer = await call.exchange(body_request(_PATHS[protocol], text.encode("utf-8")))
        if isinstance(answer, Failure):
            return after_failure(call.entry, answer)
        if not 200 <= answer.status <= 299:
            return refusal(call.entry, answer)
        try:
            output = read_evaluation(
                _protocol_facts(call), call.input, read_body(answer, plain=True)
            )
        except (Malformed, InvalidAnswer) as fault:
            return call.situation(Situation.MALFORMED, str(fault))
        misfit = call.pinned.response_misfit(output)
        if misfit is not None:
            return call.situation(Situation.MALFORMED, f"response {misfit}")
        return Sent(Reply(ReplyKind.ACCEPTED, output))


def _protocol_facts(call: Call) -> tuple[str, str]:
    return _protocol(call.line.settings, call.line.name)


def _protocol(settings: ConnectionSettings, connection: str) -> tuple[str, str]:
    """Protocol and model; ConnectionFault if the connection has none."""
    if settings.protocol is None or settings.model is None:
        raise ConnectionFault(
            "connection.protocol",
            "the connection names no protocol or no model",
            place=connection,
            remedy="give the connection a protocol and a model in runtime.yaml",
        )
    return settings.protocol, settings.model


def _body_text(call: Call) -> str:
    protocol, model = _protocol_facts(call)
    write = _system_one if protocol == "system-one" else _openai_decisions
    try:
        body = canonical_bytes(write(model, call.input))
    except DefinitionError as error:
        raise CommandRefused("request body: no canonical form") from error
    if len(body) > call.line.settings.maximum_request_bytes:
        raise CommandRefused("request body: too large")
    return body.decode("utf-8")


def _system_one(model: str, input: JsonValue) -> JsonValue:
    questions = {
        name: {**asked, "type": "noul" if asked["type"] == "predicate" else asked["type"]}
        for name, asked in input["questions"].items()
    }
    return {"model": model, "state": input["state"], "questions": questions}


def _openai_decisions(model: str, input: JsonValue) -> JsonValue:
    state = input["state"]
    questions = [_listed(name, asked) for name, asked in sorted(input["questions"].items())]
    text = state if isinstance(state, str) else canonical_bytes(state).decode("utf-8")
    return {"model": model, "input": text, "questions": questions}


def _listed(name: str, asked: JsonValue) -> JsonValue:
    listed = {"name": name, "type": asked["type"], "instructions": asked["instructions"]}
    if asked["type"] == "choice":
        listed["choices"] = [
            {"value": value, "description": text}
            for value, text in sorted(asked["criteria"].items())
        ]
    elif asked["type"] == "score":
        listed["levels"] = [{"label": label} for label in asked["criteria"]]
    return listed
