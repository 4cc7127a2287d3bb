"""The resource /v1/events: a product's signed event admits the run that a trigger declares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request

from adapter.api.bodies import WORKFLOW_ID, EventAnswer, require_json, strict_json
from adapter.api.cloud_events import SCHEMA, cloud_event
from adapter.api.messages import EventRequest, EventSource
from adapter.api.ports import Executions, RunBook
from adapter.api.problems import refused
from adapter.api.requests import problems_of, refuse_query
from adapter.api.signatures import HEADER_PARAMETERS, signer_of
from adapter.api.starting import start_admitted

TriggerName = Annotated[str, Path(pattern=WORKFLOW_ID, description="A trigger of the workflow")]
WorkflowName = Annotated[str, Path(pattern=WORKFLOW_ID, description="An active workflow")]


def event_routes(
    sources: Sequence[EventSource],
    book: RunBook,
    executions: Executions,
    after_commit: Callable[[], None],
) -> APIRouter:
    """The route of events; ``after_commit`` is called once an admission is durable."""
    router = APIRouter(prefix="/v1/events", tags=["events"])
    known = {source.name: source for source in sources}
    verifiers = [(source.name, source.verifier) for source in sources]

    @router.post(
        "/{workflow}/{trigger}",
        status_code=202,
        operation_id="admitEvent",
        summary="Admit a run by a product's signed event, once per event",
        responses=problems_of(400, 401, 403, 404, 409, 415, 422, 429, 503),
        openapi_extra={"parameters": HEADER_PARAMETERS, "requestBody": _body()},
    )
    async def admit_event(
        request: Request, workflow: WorkflowName, trigger: TriggerName
    ) -> EventAnswer:
        data = await request.body()
        source = known[signer_of(request, data, verifiers).source]
        require_json(request)
        refuse_query(request)
        event = cloud_event(strict_json(data))
        if event.source != source.uri:
            raise refused(
                "event.source-denied",
                "whoever signed the event may not send events of this source",
                place="/source",
                remedy="sign with the secret that is configured for the event's own source",
            )
        if not source.covers(workflow):
            # Said as of an absent workflow, so that a hidden one can not be told from it.
            raise refused(
                "workflow.unknown",
                "there is no such active workflow",
                place="path/workflow",
                remedy="check the address that events are sent to",
            )
        wish = EventRequest(source.name, workflow, trigger, event)
        admitted = await book.admit_event(wish)
        await start_admitted(executions, admitted.run.run_id, after_commit)
        return EventAnswer(run_id=admitted.run.run_id, created=admitted.created)

    return router


def _body() -> dict[str, Any]:
    media = ("application/cloudevents+json", "application/json")
    return {"required": True, "content": {name: {"schema": SCHEMA} for name in media}}
