"""Immediate registry actions: conditions are frozen before the send, and proved to still hold.

Preparation reads the registry's own description and the conditions of the records that the
action would change. Sending reads the description again: only the very action that was prepared
is invoked, and conditions are never replaced by fresher ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from activities.catalogue import CatalogueEntry, HttpCall
from activities.catalogue.schemas import Check, compile_check
from activities.errors import ConnectionFault
from activities.products.calls import Call, NotPrepared
from activities.products.http_requests import (
    CommandRefused,
    json_request,
    key_header,
    plain_request,
)
from activities.products.outcomes import Sent, after_failure, classify
from activities.products.transport import Failure, HttpRequest
from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.operations import EffectClass, OperationContract, Recovery
from interpreter.contract.values import JsonValue

# What a field of an action may say about its value, spelled as in JSON Schema.
_FIELD_KEYWORDS = (
    "type",
    "enum",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
)


def _reading(id: str, path: str, response: JsonValue) -> tuple[CatalogueEntry, Check]:
    """A read that only preparation makes: its entry and the check of its answer."""
    contract = OperationContract(
        id=id,
        product="breg",
        effect=EffectClass.READ,
        recovery=Recovery.READ_AGAIN,
        request=True,
        response=response,
    )
    http = HttpCall(method="GET", path=path, traced=True)
    return CatalogueEntry(contract, http), compile_check(response)


_DESCRIPTION = _reading(
    "breg.read-description/v1",
    "/v1/registry",
    {
        "type": "object",
        "required": ["revision", "fingerprint", "actions"],
        "properties": {
            "revision": {"type": ["integer", "string"]},
            "fingerprint": {"type": "string", "minLength": 1},
            "actions": {
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "required": ["kind", "accessProfile", "fields", "conditionKeys"],
                    "properties": {
                        "kind": {"type": "string"},
                        "accessProfile": {"type": "string"},
                        "fields": {"type": "object", "additionalProperties": {"type": "object"}},
                        "conditionKeys": {"type": "array", "items": {"type": "string"}},
                        "noEffectRefusals": {"type": "array", "items": {"type": "string"}},
                    },
                },
            },
        },
    },
)
_CONDITIONS = _reading(
    "breg.read-conditions/v1",
    "/v1/actions/{action}/target-conditions",
    {
        "type": "object",
        "required": ["preconditions"],
        "properties": {
            "preconditions": {
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "required": ["ifMatch"],
                    "properties": {"ifMatch": {"type": "string", "minLength": 1}},
                },
            }
        },
    },
)


@dataclass(frozen=True, slots=True)
class Action:
    """One action as the registry describes it to a profile, in one revision of the registry."""

    revision: JsonValue
    fingerprint: str
    described: dict[str, Any]

    @property
    def refusals(self) -> frozenset[str]:
        """The refusal codes that its owner declares to have had no effect."""
        return frozenset(self.described.get("noEffectRefusals", ()))

    def misfit(self, input: JsonValue) -> str | None:
        """The pointer of the first input that is not what the fields declare."""
        fields: dict[str, dict[str, Any]] = self.described["fields"]
        schema = {
            "type": "object",
            "additionalProperties": False,
            "required": [name for name, field in fields.items() if field.get("required")],
            "properties": {name: _field_schema(field) for name, field in fields.items()},
        }
        return compile_check(schema)(input)


class ImmediateAction:
    """``breg.invoke-action/v1``."""

    async def prepare(self, call: Call) -> JsonValue:
        """``{action, accessProfile, revision, fingerprint, body}``: what is sent, on what terms.

        Raises NotPrepared with ``action-unavailable``, or with what the registry answered.
        """
        name, profile = call.input["action"], _profile(call)
        action = await _described(call, name, profile)
        misfit = action.misfit(call.input["input"])
        if misfit is not None:
            raise CommandRefused(f"request /input{misfit.rstrip('/')}")
        preconditions = await _preconditions(call, action, name, profile)
        return {
            "action": name,
            "accessProfile": profile,
            "revision": action.revision,
            "fingerprint": action.fingerprint,
            "body": {"input": call.input["input"], "preconditions": preconditions},
        }

    async def send(self, call: Call) -> Sent:
        """Invoke exactly what was prepared, or nothing (``prepared-command-mismatch``)."""
        name, profile = call.input["action"], _profile(call)
        capsule = call.preparation
        if not _is_capsule(capsule) or call.key is None:
            raise CommandRefused("preparation")
        action = await _described(call, name, profile)
        expected = (name, profile, action.revision, action.fingerprint, call.input["input"])
        if expected != _terms(capsule):
            return Sent(Reply(ReplyKind.REFUSED, code="prepared-command-mismatch"))
        target = _target(f"/v1/actions/{quote(name, safe='')}", profile)
        header = key_header(call.entry.http, call.key)
        answer = await call.exchange(json_request("POST", target, capsule["body"], (header,)))
        if isinstance(answer, Failure):
            return after_failure(call.entry, answer)
        return classify(call.entry, answer, call.pinned.response_misfit, action.refusals)


async def _described(call: Call, name: str, profile: str) -> Action:
    """The action in the registry's present description; NotPrepared when it can not be used."""
    description = await _read(call, _DESCRIPTION, plain_request(_target("/v1/registry", profile)))
    described = description["actions"].get(name)
    if (
        described is None
        or described["kind"] != "immediate"
        or described["accessProfile"] != profile
    ):
        raise NotPrepared(
            Sent(Reply(ReplyKind.REFUSED, code="action-unavailable"), place="request /action")
        )
    return Action(description["revision"], description["fingerprint"], described)


async def _preconditions(call: Call, action: Action, name: str, profile: str) -> JsonValue:
    """The present revisions of the records that the action would change, by condition key."""
    keys = action.described["conditionKeys"]
    if not keys:
        return {}
    target = _target(f"/v1/actions/{quote(name, safe='')}/target-conditions", profile)
    request = json_request("POST", target, {"input": call.input["input"]})
    preconditions = (await _read(call, _CONDITIONS, request))["preconditions"]
    if set(preconditions) != set(keys):
        place = "response /preconditions"
        raise NotPrepared(Sent(Reply(ReplyKind.REFUSED, code="invalid-response"), place=place))
    return preconditions


async def _read(
    call: Call, reading: tuple[CatalogueEntry, Check], request: HttpRequest
) -> JsonValue:
    """The output of a read, or NotPrepared with how the read ended: before anything was sent."""
    entry, check = reading
    answer = await call.exchange(request)
    if isinstance(answer, Failure):
        raise NotPrepared(after_failure(entry, answer))
    sent = classify(entry, answer, check)
    if sent.reply.kind is not ReplyKind.ACCEPTED:
        raise NotPrepared(sent)
    return sent.reply.output


def _profile(call: Call) -> str:
    if call.line.settings.profile is None:
        raise ConnectionFault(
            "connection.profile",
            "the connection has no access profile",
            place=call.line.name,
            remedy="give the connection a profile in runtime.yaml",
        )
    return call.line.settings.profile


def _target(path: str, profile: str) -> str:
    return f"{path}?accessProfile={quote(profile, safe='')}"


def _field_schema(field: dict[str, Any]) -> JsonValue:
    schema = {key: field[key] for key in _FIELD_KEYWORDS if key in field}
    return {"anyOf": [schema, {"type": "null"}]} if field.get("nullable") else schema


def _is_capsule(value: JsonValue) -> bool:
    body = value.get("body") if isinstance(value, dict) else None
    return isinstance(body, dict) and {"input", "preconditions"} == set(body)


def _terms(capsule: dict[str, JsonValue]) -> tuple[JsonValue, ...]:
    names = ("action", "accessProfile", "revision", "fingerprint")
    return (*(capsule.get(name) for name in names), capsule["body"]["input"])
