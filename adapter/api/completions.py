"""The resource /v1/review-completions: signed events that bring a wait's next read forward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from standardwebhooks.webhooks import Webhook

from adapter.api.bodies import CompletionNotice, strict_json
from adapter.api.ports import Executions
from adapter.api.problems import refused
from adapter.api.requests import problems_of
from adapter.api.signatures import HEADER_PARAMETERS, signer_of
from interpreter.contract.values import JsonValue

_PRODUCT = "casework"
_SUBJECT = "reviewRequestId"


def completion_routes(sources: Mapping[str, Webhook], executions: Executions) -> APIRouter:
    """The route of completion events; ``sources`` holds product -> verifier.

    An event carries no result: its only effect is that waits on its subject are read sooner. It
    starts nothing, and one that nobody waits for is answered like any other.
    """
    router = APIRouter(prefix="/v1/review-completions", tags=["events"])
    known = [(name, verifier) for name, verifier in sources.items() if name == _PRODUCT]

    @router.post(
        "",
        status_code=202,
        operation_id="noticeReviewCompletion",
        summary="Take a signed completion event of the review product",
        responses=problems_of(400, 401, 409, 429, 503),
        openapi_extra={"parameters": HEADER_PARAMETERS, "requestBody": _event_body()},
    )
    async def notice_completion(request: Request) -> CompletionNotice:
        data = await request.body()
        message = signer_of(request, data, known)
        subject = _subject(strict_json(data))
        return CompletionNotice(repeated=await executions.hint(message, _SUBJECT, subject))

    return router


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
