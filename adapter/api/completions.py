"""The resource /v1/review-completions: signed events that bring a wait's next read forward."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from adapter.api.bodies import CompletionNotice, strict_json
from adapter.api.ports import Executions
from adapter.api.problems import MEDIA_TYPE, Problem, refused
from interpreter.contract.values import JsonValue

_SUBJECT = "reviewRequestId"
_HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")


def webhook_of(secret: str) -> Webhook:
    """The verifier of a shared secret (``whsec_`` and base64); ValueError for another form."""
    try:
        base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error as error:
        raise ValueError("not a webhook secret") from error
    return Webhook(secret)


def completion_routes(sources: Mapping[str, Webhook], executions: Executions) -> APIRouter:
    """The route of completion events; ``sources`` holds product -> verifier.

    An event carries no result: its only effect is that waits on its subject are read sooner. It
    starts nothing, and one that nobody waits for is answered like any other.
    """
    router = APIRouter(prefix="/v1/review-completions", tags=["events"])
    schema = {"$ref": f"#/components/schemas/{Problem.__name__}"}
    problem = {"description": "Problem", "content": {MEDIA_TYPE: {"schema": schema}}}
    signed: list[dict[str, Any]] = [
        {"name": name, "in": "header", "required": True, "schema": {"type": "string"}}
        for name in _HEADERS
    ]

    @router.post(
        "",
        status_code=202,
        operation_id="noticeReviewCompletion",
        summary="Take a signed completion event of the review product",
        responses={400: problem, 401: problem, 413: problem, 503: problem},
        openapi_extra={"parameters": signed, "requestBody": _event_body()},
    )
    async def notice_completion(request: Request) -> CompletionNotice:
        data = await request.body()
        _verify(sources.get("casework"), data, request)
        told = await executions.hint("casework", _SUBJECT, _subject(strict_json(data)))
        return CompletionNotice(waits=told)

    return router


def _verify(source: Webhook | None, data: bytes, request: Request) -> None:
    if source is None:
        raise refused(
            "event.source-unknown",
            "this deployment takes no completion events",
            remedy="configure events.completions in runtime.yaml",
        )
    headers = {name: request.headers.get(name, "") for name in _HEADERS}
    try:
        source.verify(data, headers)
    except WebhookVerificationError as error:
        raise refused(
            "event.signature-invalid",
            "the signature or its time does not hold",
            place="webhook-signature",
            remedy="sign with the shared secret and send within five minutes",
        ) from error


def _subject(event: JsonValue) -> str:
    data = event.get("data") if isinstance(event, dict) else None
    subject = data.get(_SUBJECT) if isinstance(data, dict) else None
    if not isinstance(subject, str) or not 1 <= len(subject) <= 512:
        raise refused(
            "request.invalid",
            "the event does not say which review request it is about",
            place=f"/data/{_SUBJECT}",
            remedy="send the id that the submission answered",
        )
    return subject


def _event_body() -> dict[str, Any]:
    subject = {"type": "string", "minLength": 1, "maxLength": 512}
    schema = {
        "type": "object",
        "required": ["data"],
        "properties": {
            "type": {"type": "string"},
            "data": {
                "type": "object",
                "required": [_SUBJECT],
                "properties": {_SUBJECT: subject},
            },
        },
    }
    return {"required": True, "content": {"application/json": {"schema": schema}}}
