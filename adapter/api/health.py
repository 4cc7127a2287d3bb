"""What anybody may ask: whether the service lives, is ready, and what a problem code means."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Response

from adapter.api.bodies import Body
from adapter.api.ports import Executions, RunBook
from adapter.api.problems import KINDS, refused
from adapter.api.requests import problems_of


class Live(Body):
    """The process answers."""

    live: bool = True


class Ready(Body):
    """Whether a request would be served now, part by part."""

    ready: bool
    ledger: bool
    temporal: bool


class ProblemPage(Body):
    """What is the same for every occurrence of a problem code."""

    code: str
    status: int
    title: str


def open_routes(book: RunBook, executions: Executions) -> APIRouter:
    """The routes that ask nobody who calls."""
    router = APIRouter(tags=["service"])

    @router.get(
        "/health",
        operation_id="live",
        summary="Whether the process lives",
        responses=problems_of(),
    )
    async def live() -> Live:
        return Live()

    @router.get(
        "/ready",
        operation_id="ready",
        summary="Whether ledger and Temporal answer",
        responses={**problems_of(), 503: {"model": Ready}},
    )
    async def ready(response: Response) -> Ready:
        ledger, temporal = await asyncio.gather(book.ready(), executions.ready())
        # Without Temporal an admission still is durable, and started later: that is ready.
        response.status_code = 200 if ledger else 503
        return Ready(ready=ledger, ledger=ledger, temporal=temporal)

    @router.get(
        "/problems/{code}",
        operation_id="readProblem",
        summary="What a problem code means",
        responses=problems_of(404),
    )
    async def read_problem(code: str) -> ProblemPage:
        kind = KINDS.get(code)
        if kind is None:
            raise refused(
                "route.absent",
                "no problem has this code",
                place="path/code",
                remedy="check its spelling",
            )
        return ProblemPage(code=code, status=kind.status, title=kind.title)

    return router
