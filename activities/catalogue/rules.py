"""What an operation of a catalogue must agree with itself about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from activities.catalogue.documents import OperationDocument, StandardOperation
from activities.catalogue.http_call import (
    BodySource,
    QuerySource,
    Situation,
    fill_path,
    path_members,
)
from activities.catalogue.schemas import schema_faults
from interpreter.contract.effects import ReplyKind
from interpreter.contract.operations import EffectClass, Recovery

_PROVE_NOTHING = (Situation.LOST, Situation.MALFORMED, Situation.REDIRECT)
_SCALARS = frozenset({"string", "integer", "number", "boolean"})


@dataclass(frozen=True, slots=True)
class Mistake:
    """A JSON pointer into the document, a code, what is wrong and what to do."""

    pointer: str
    code: str
    message: str
    remedy: str


def operation_mistakes(place: str, operation: OperationDocument) -> list[Mistake]:
    """Everything about one operation that can not be carried out as written.

    ``place`` is its JSON pointer. An operation with an adapter lays out its request itself, so
    only its promises and schemas are judged.
    """
    found = [*_promise_mistakes(place, operation), *_schema_mistakes(place, operation)]
    if isinstance(operation, StandardOperation) and operation.adapter is not None:
        return found
    if not any(mistake.pointer.startswith(f"{place}/request") for mistake in found):
        found += _placement_mistakes(place, operation)
    return [*found, *_classification_mistakes(place, operation)]


def _promise_mistakes(place: str, operation: OperationDocument) -> Iterator[Mistake]:
    """Effect class, key, recovery and receipt hang together (the seven lines of the table)."""
    effect, recovery = operation.effect, operation.recovery
    if effect is EffectClass.READ:
        if recovery is not Recovery.READ_AGAIN:
            yield _effect(place, "a read is recovered by reading again", "recovery: read-again")
        if operation.key:
            yield _effect(place, "a read has no idempotency key", "remove key")
    elif recovery is Recovery.READ_AGAIN:
        remedy = "recovery: same-command with key: true, or hold-after-dispatch"
        yield _effect(place, "what is not a read is not read again", remedy)
    if effect is EffectClass.EVALUATION and recovery is not Recovery.HOLD_AFTER_DISPATCH:
        yield _effect(place, "an evaluation is never repeated", "recovery: hold-after-dispatch")
    same = recovery in (Recovery.SAME_COMMAND, Recovery.SAME_COMMAND_AND_RECEIPT)
    if same and not operation.key:
        yield _effect(place, "the same command can not be sent again without a key", "key: true")
    if (recovery is Recovery.SAME_COMMAND_AND_RECEIPT) != (operation.http.receipt is not None):
        remedy = "give http.receipt exactly with recovery: same-command-and-receipt"
        yield _effect(place, "recovery and receipt disagree", remedy)
    if operation.receipt_window_seconds is not None and not operation.key:
        yield _effect(place, "a receipt window needs a key", "key: true, or no window")
    if operation.proposal and effect is not EffectClass.MUTATION:
        remedy = "remove proposal; what only reads a proposal is a read"
        yield Mistake(f"{place}/proposal", "effect-disagreement", "no action", remedy)
    if effect is EffectClass.MUTATION and operation.http.method == "GET":
        yield Mistake(
            f"{place}/http/method", "method", "a mutation is not sent by GET", "use POST or PUT"
        )


def _effect(place: str, message: str, remedy: str) -> Mistake:
    return Mistake(f"{place}/recovery", "effect-disagreement", message, remedy)


def _schema_mistakes(place: str, operation: OperationDocument) -> Iterator[Mistake]:
    schemas: list[tuple[str, Any]] = [
        ("request", operation.request),
        ("response", operation.response),
    ]
    schemas += [
        (f"completions/{name}/schema", completion.value_schema)
        for name, completion in operation.completions.items()
    ]
    for member, schema in schemas:
        for fault in schema_faults(schema):
            pointer = f"{place}/{member}{fault.pointer}"
            yield Mistake(pointer, "schema", fault.message, fault.remedy)
    request = operation.request
    if not isinstance(request, dict) or request.get("type") != "object":
        yield Mistake(f"{place}/request", "schema", "a request is an object", "write type: object")
    elif not isinstance(request.get("properties", {}), dict):
        yield Mistake(
            f"{place}/request/properties", "schema", "not a map of schemas", "write an object"
        )


def _placement_mistakes(place: str, operation: OperationDocument) -> Iterator[Mistake]:
    """Every member of the request goes somewhere, and everything sent comes from a member."""
    http, request = operation.http, operation.request
    properties: dict[str, Any] = request.get("properties", {})
    yield from _path_mistakes(f"{place}/http/path", http.path, request)
    if http.receipt is not None:
        yield from _path_mistakes(f"{place}/http/receipt/path", http.receipt.path, request)
    yield from _query_mistakes(f"{place}/http/query", http.query, properties)
    if http.body is not None:
        yield from _body_mistakes(f"{place}/http/body", http.method, http.body, properties)
    for member in sorted(set(properties) - http.used_members()):
        yield Mistake(
            f"{place}/request/properties/{member}",
            "member-unused",
            f"the member {member} goes nowhere",
            "name it in http.path, http.query or http.body",
        )


def _path_mistakes(place: str, template: str, request: dict[str, Any]) -> Iterator[Mistake]:
    properties, required = request.get("properties", {}), request.get("required", ())
    for member in path_members(template):
        if member not in properties or member not in required:
            message = f"the path needs the member {member}, which the request does not require"
            remedy = "add it to properties and required of the request schema"
            yield Mistake(place, "path-member", message, remedy)
        elif not _is_scalar(properties[member], {"string", "integer"}):
            message = f"the member {member} can not stand in a path"
            remedy = "give it type: string or integer in the request schema"
            yield Mistake(place, "path-member", message, remedy)
    if re.search("[{}]", fill_path(template, dict.fromkeys(path_members(template), ""))):
        remedy = "write members as {name}"
        yield Mistake(place, "path-member", "a brace without a member", remedy)


def _query_mistakes(
    place: str, query: dict[str, QuerySource], properties: dict[str, Any]
) -> Iterator[Mistake]:
    for name, source in query.items():
        if (source.member is None) == (source.setting is None):
            remedy = "name one member, or one setting"
            yield Mistake(f"{place}/{name}", "query-member", "a parameter has one source", remedy)
        elif source.member is not None and source.member not in properties:
            message = f"the request has no member {source.member}"
            remedy = "add it to the properties of the request schema"
            yield Mistake(f"{place}/{name}", "query-member", message, remedy)
        elif source.member is not None and not _is_scalar(properties[source.member], _SCALARS):
            message = f"the member {source.member} can not stand in a query"
            remedy = "give it a scalar type in the request schema"
            yield Mistake(f"{place}/{name}", "query-member", message, remedy)


def _body_mistakes(
    place: str, method: str, body: BodySource, properties: dict[str, Any]
) -> Iterator[Mistake]:
    if method == "GET":
        yield Mistake(place, "body", "a GET has no body", "use query, or another method")
    if (body.members is None) == (body.member is None):
        yield Mistake(place, "body", "a body is members or one member", "give one of the two")
    names = (*(body.members or ()), *((body.member,) if body.member is not None else ()))
    for member in names:
        if member not in properties:
            remedy = "add it to the properties of the request schema"
            yield Mistake(place, "body", f"the request has no member {member}", remedy)


def _is_scalar(schema: Any, allowed: set[str] | frozenset[str]) -> bool:
    if not isinstance(schema, dict):
        return False
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    if kind is None:
        values = schema.get("enum", [schema["const"]] if "const" in schema else [])
        return bool(values) and all(isinstance(value, str | int) for value in values)
    return all(name in allowed for name in kinds)


def _classification_mistakes(place: str, operation: OperationDocument) -> Iterator[Mistake]:
    """A table may not call harmless what was perhaps done, nor declare what no rule reaches."""
    for position, rule in enumerate(operation.http.classification):
        pointer = f"{place}/http/classification/{position}"
        if not rule.status and not rule.problem:
            remedy = "name a status or a problem code"
            yield Mistake(pointer, "classification", "the rule matches everything", remedy)
        if rule.kind is ReplyKind.DECLARED_REFUSAL:
            remedy = "write it under http.refusals"
            yield Mistake(pointer, "classification", "a declared refusal is no rule", remedy)
        if rule.kind is ReplyKind.RECEIPT_EXPIRED and not operation.key:
            remedy = "key: true, or another kind"
            yield Mistake(pointer, "classification", "no key, so no receipt expires", remedy)
        if rule.kind is ReplyKind.UNKNOWN and operation.effect is EffectClass.READ:
            remedy = "kind: retryable or refused"
            yield Mistake(pointer, "classification", "a read is never unknown", remedy)
    for situation, outcome in operation.http.outcomes.items():
        if outcome.kind is ReplyKind.DECLARED_REFUSAL:
            pointer = f"{place}/http/outcomes/{situation}"
            remedy = "kind: refused, retryable or unknown"
            yield Mistake(pointer, "classification", "not a product's refusal", remedy)
        elif situation in _PROVE_NOTHING and (
            operation.effect is not EffectClass.READ and outcome.kind is not ReplyKind.UNKNOWN
        ):
            pointer = f"{place}/http/outcomes/{situation}"
            message = "an answer that proves nothing leaves the effect unknown"
            yield Mistake(pointer, "classification", message, "kind: unknown")
