"""The resource /v1/runs: start, list, look at, follow and cancel runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any
from uuid import UUID

import structlog
from fastapi import APIRouter, Depends, Path, Query, Request, Response

from adapter.api.answers import event_list, inspection, run_status
from adapter.api.bodies import (
    CancelRequest,
    EventList,
    RunInspection,
    RunList,
    RunStatus,
    StartedRun,
    StartRequest,
    read_body,
)
from adapter.api.callers import Caller, Callers
from adapter.api.ports import AdmissionRequest, Admitted, Executions, RunBook, RunFilter, RunView
from adapter.api.problems import refused
from adapter.api.requests import may_answer, refuse_query
from adapter.errors import Refused, Unavailable
from interpreter.contract.records import RunState

KEY_HEADER = "Idempotency-Key"
_KEY = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,254}[\x21-\x7e])?")
_LONGEST_RUN_ID = 45
_log = structlog.get_logger(__name__)

RunId = Annotated[str, Path(alias="runId", description="The id that the start answered")]
Limit = Annotated[int, Query(ge=1, le=100)]


def accepts(model: type[StartRequest] | type[CancelRequest]) -> dict[str, Any]:
    """The body of a route that reads it itself, for the OpenAPI document."""
    content = {"application/json": {"schema": model.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}


def run_routes(
    callers: Callers,
    book: RunBook,
    executions: Executions,
    after_commit: Callable[[], None],
) -> APIRouter:
    """The routes of runs; ``after_commit`` is called once an admission is durable."""
    router = APIRouter(prefix="/v1/runs", tags=["runs"])
    _add_start(router, callers, book, executions, after_commit)
    _add_reads(router, callers, book)
    _add_details(router, callers, book)
    _add_cancel(router, callers, book, executions)
    return router


def _add_start(
    router: APIRouter,
    callers: Callers,
    book: RunBook,
    executions: Executions,
    after_commit: Callable[[], None],
) -> None:
    may_start = Depends(callers.may("start"))
    key_parameter = {
        "name": KEY_HEADER,
        "in": "header",
        "required": True,
        "description": "1 to 256 printable ASCII characters; the same key gives the same run",
        "schema": {"type": "string", "minLength": 1, "maxLength": 256},
    }

    @router.post(
        "",
        status_code=202,
        operation_id="startRun",
        summary="Start a run, or find the one this key started",
        responses=may_answer(400, 404, 409, 413, 415, 422),
        openapi_extra={"parameters": [key_parameter], **accepts(StartRequest)},
    )
    async def start_run(
        request: Request,
        response: Response,
        caller: Caller = may_start,
    ) -> StartedRun:
        refuse_query(request)
        wish = await read_body(request, StartRequest)
        key = _idempotency_key(request)
        admitted = await _admitted(book, wish, key, caller)
        after_commit()
        try:
            await executions.start(admitted.run.run_id)
        except (Unavailable, Refused) as error:
            # Nothing is lost: the run is admitted, and the reconciler starts it.
            _log.warning("run.start-pending", run=admitted.run.run_id, code=error.code)
        run = await book.run(admitted.run.run_id, caller.scope) or admitted.run
        status = run_status(run, caller)
        response.headers["Location"] = status.links.self
        return StartedRun(**dict(status), created=admitted.created)


def _add_reads(router: APIRouter, callers: Callers, book: RunBook) -> None:
    may_status = Depends(callers.may("status"))

    @router.get(
        "",
        operation_id="listRuns",
        summary="List runs, newest admission first",
        responses=may_answer(400),
    )
    async def list_runs(
        request: Request,
        caller: Caller = may_status,
        state: Annotated[RunState | None, Query()] = None,
        workflow: Annotated[str | None, Query(max_length=64)] = None,
        cursor: Annotated[str | None, Query(max_length=256)] = None,
        limit: Limit = 20,
    ) -> RunList:
        refuse_query(request, "state", "workflow", "cursor", "limit")
        page = await book.runs(caller.scope, RunFilter(state, workflow), cursor, limit)
        return RunList(runs=[run_status(run, caller) for run in page.runs], next=page.cursor)

    @router.get(
        "/{runId}",
        operation_id="readRun",
        summary="How a run stands",
        responses=may_answer(400, 404),
    )
    async def read_run(request: Request, run_id: RunId, caller: Caller = may_status) -> RunStatus:
        refuse_query(request)
        return run_status(await _visible_run(book, run_id, caller), caller)


def _add_details(router: APIRouter, callers: Callers, book: RunBook) -> None:
    may_inspect, may_events = Depends(callers.may("inspect")), Depends(callers.may("events"))

    @router.get(
        "/{runId}/inspect",
        operation_id="inspectRun",
        summary="A run with its steps, effects and waits",
        responses=may_answer(400, 404),
    )
    async def inspect_run(
        request: Request, run_id: RunId, caller: Caller = may_inspect
    ) -> RunInspection:
        refuse_query(request)
        found = await book.inspect(_well_formed(run_id), caller.scope)
        if found is None:
            raise _absent_run()
        return inspection(found, caller)

    @router.get(
        "/{runId}/events",
        operation_id="followRun",
        summary="Events of a run after a sequence number",
        responses=may_answer(400, 404),
    )
    async def follow_run(
        request: Request,
        run_id: RunId,
        caller: Caller = may_events,
        after: Annotated[int, Query(ge=0, le=2**53)] = 0,
        limit: Limit = 100,
    ) -> EventList:
        refuse_query(request, "after", "limit")
        events = await book.events(_well_formed(run_id), caller.scope, after, limit)
        if events is None:
            raise _absent_run()
        return event_list(list(events), after)


def _add_cancel(router: APIRouter, callers: Callers, book: RunBook, executions: Executions) -> None:
    may_cancel = Depends(callers.may("cancel"))

    @router.post(
        "/{runId}/cancel",
        status_code=202,
        operation_id="cancelRun",
        summary="Stop future calls of a run where that is possible",
        responses=may_answer(400, 404, 409, 413, 415),
        openapi_extra=accepts(CancelRequest),
    )
    async def cancel_run(request: Request, run_id: RunId, caller: Caller = may_cancel) -> RunStatus:
        refuse_query(request)
        wish = await read_body(request, CancelRequest)
        run = await _visible_run(book, run_id, caller)
        if run.state.final:
            raise refused(
                "run.closed",
                "the run is over, so there is nothing to cancel",
                remedy="read its outcome",
            )
        await executions.cancel(run.run_id, wish.reason)
        return run_status(await _visible_run(book, run_id, caller), caller)


async def _visible_run(book: RunBook, run_id: str, caller: Caller) -> RunView:
    run = await book.run(_well_formed(run_id), caller.scope)
    if run is None:
        raise _absent_run()
    return run


def _absent_run() -> Refused:
    # The id is not repeated: a hidden run and an absent one get the same bytes.
    return refused(
        "run.unknown", "there is no such run", place="runId", remedy="list the runs you may see"
    )


def _well_formed(run_id: str) -> str:
    """The canonical spelling of a run id, whichever spelling of a UUID was sent."""
    try:
        if len(run_id) > _LONGEST_RUN_ID:
            raise ValueError("too long")
        return str(UUID(run_id))
    except ValueError as error:
        raise refused(
            "request.invalid",
            "this is not the form of a run id",
            place="path/runId",
            remedy="use the id that the start answered",
        ) from error


async def _admitted(book: RunBook, wish: StartRequest, key: str, caller: Caller) -> Admitted:
    request = AdmissionRequest(caller.owner, key, wish.workflow, wish.revision, wish.input)
    unknown = refused(
        "workflow.unknown",
        "there is no such active workflow",
        place="/workflow",
        remedy="list the active workflows",
    )
    if not caller.scope.covers(wish.workflow):
        raise unknown
    try:
        return await book.admit(request)
    except Refused as error:
        # Said in one way, so that a hidden workflow can not be told from an absent one.
        raise unknown if error.code == unknown.code else error from error


def _idempotency_key(request: Request) -> str:
    keys = request.headers.getlist(KEY_HEADER)
    if len(keys) != 1 or _KEY.fullmatch(keys[0]) is None:
        raise refused(
            "idempotency.key-invalid",
            "the request needs one idempotency key of 1 to 256 printable characters",
            place=KEY_HEADER,
            remedy="send one key per wish, and the same one when you repeat it",
        )
    return keys[0]
