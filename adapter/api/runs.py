"""The resource /v1/runs: start, list, look at and follow runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from adapter.access import Caller
from adapter.api.answers import event_list, run_summary
from adapter.api.bodies import (
    WORKFLOW_ID,
    EventList,
    RunInspection,
    RunList,
    RunStatus,
    StartedRun,
    StartRequest,
    read_body,
)
from adapter.api.callers import Callers
from adapter.api.ports import AdmissionRequest, Admitted, Executions, RunBook, RunFilter
from adapter.api.problems import refused
from adapter.api.requests import (
    KEY_HEADER,
    RunId,
    absent_run,
    accepts,
    idempotency_key,
    may_answer,
    refuse_query,
    visible_run,
    well_formed,
)
from adapter.api.showing import Showing
from adapter.api.starting import start_admitted
from adapter.errors import Refused
from interpreter.contract.records import RunState
from interpreter.errors import DefinitionError

Limit = Annotated[int, Query(ge=1, le=100)]


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
    return router


def _add_start(
    router: APIRouter,
    callers: Callers,
    book: RunBook,
    executions: Executions,
    after_commit: Callable[[], None],
) -> None:
    may_start, showing = Depends(callers.may("start")), Showing(book)
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
        responses=may_answer(400, 404, 409, 415, 422),
        openapi_extra={"parameters": [key_parameter], **accepts(StartRequest)},
    )
    async def start_run(
        request: Request,
        response: Response,
        caller: Caller = may_start,
    ) -> StartedRun:
        refuse_query(request)
        wish = await read_body(request, StartRequest)
        key = idempotency_key(request)
        admitted = await _admitted(book, wish, key, caller)
        await start_admitted(executions, admitted.run.run_id, after_commit)
        run = await book.run(admitted.run.run_id, caller.scope) or admitted.run
        status = await showing.status(run, caller)
        response.headers["Location"] = status.links.self
        return StartedRun(**dict(status), created=admitted.created)


def _add_reads(router: APIRouter, callers: Callers, book: RunBook) -> None:
    may_status, showing = Depends(callers.may("status")), Showing(book)

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
        workflow: Annotated[str | None, Query(pattern=WORKFLOW_ID)] = None,
        cursor: Annotated[str | None, Query(max_length=256)] = None,
        limit: Limit = 20,
    ) -> RunList:
        refuse_query(request, "state", "workflow", "cursor", "limit")
        page = await book.runs(caller.scope, RunFilter(state, workflow), cursor, limit)
        return RunList(runs=[run_summary(run, caller) for run in page.runs], next=page.cursor)

    @router.get(
        "/{runId}",
        operation_id="readRun",
        summary="How a run stands",
        responses=may_answer(400, 404),
    )
    async def read_run(request: Request, run_id: RunId, caller: Caller = may_status) -> RunStatus:
        refuse_query(request)
        return await showing.status(await visible_run(book, run_id, caller), caller)


def _add_details(router: APIRouter, callers: Callers, book: RunBook) -> None:
    may_inspect, may_events = Depends(callers.may("inspect")), Depends(callers.may("events"))
    showing = Showing(book)

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
        found = await book.inspect(well_formed(run_id), caller.scope)
        if found is None:
            raise absent_run()
        return await showing.inspection(found, caller)

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
        events = await book.events(well_formed(run_id), caller.scope, after, limit)
        if events is None:
            raise absent_run()
        return event_list(list(events), after)


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
    except DefinitionError as error:
        raise refused(
            "input.invalid", error.message, place="/input", remedy=error.remedy
        ) from error
    except Refused as error:
        # Said in one way, so that a hidden workflow can not be told from an absent one.
        raise unknown if error.code == unknown.code else error from error
