"""The resource /v1/workflows: what may be started, and with which revision."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter, Depends, Request

from adapter.access import Caller
from adapter.api.bodies import Workflow, WorkflowList
from adapter.api.callers import Callers
from adapter.api.ports import RunBook
from adapter.api.requests import may_answer, refuse_query


def workflow_routes(callers: Callers, book: RunBook) -> APIRouter:
    """The route of active workflows."""
    router = APIRouter(prefix="/v1/workflows", tags=["workflows"])
    may_start = Depends(callers.may("start"))

    @router.get(
        "",
        operation_id="listWorkflows",
        summary="The active workflows and their revisions",
        responses=may_answer(400),
    )
    async def list_workflows(request: Request, caller: Caller = may_start) -> WorkflowList:
        refuse_query(request)
        found = await book.workflows(caller.scope)
        return WorkflowList(workflows=[Workflow.model_validate(asdict(view)) for view in found])

    return router
