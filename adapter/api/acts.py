"""What operators may do about a run: retry-same, reconcile and cancel, each with a reason."""

from __future__ import annotations

import unicodedata
import uuid

from fastapi import APIRouter, Depends, Request, Response

from adapter.access import Caller
from adapter.api.bodies import Act, ActRequest, CancelRequest, RunAct, read_body
from adapter.api.callers import Callers
from adapter.api.ports import ActDesk, ActWish, RunBook
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

ACTS = {
    "retry-same": "Send the saved command of an unknown effect again, under the same key",
    "reconcile": "Read the product's receipt for an unknown effect; nothing is sent",
    "cancel": "Stop future calls of a run where that is possible",
}
LONGEST_REASON_BYTES = 256
_WAIT_SECONDS = 10.0


def act_routes(callers: Callers, book: RunBook, desk: ActDesk) -> APIRouter:
    """The routes of acts; an answer waits some seconds for the outcome."""
    router = APIRouter(prefix="/v1/runs", tags=["acts"])
    for kind in ACTS:
        _add_act(router, kind, callers, book, desk)
    _add_read(router, callers, book, desk)
    return router


def _add_act(router: APIRouter, kind: str, callers: Callers, book: RunBook, desk: ActDesk) -> None:
    may_act, showing = Depends(callers.may(kind)), Showing(book)
    model = CancelRequest if kind == "cancel" else ActRequest
    words = kind.split("-")
    key_parameter = {
        "name": KEY_HEADER,
        "in": "header",
        "required": False,
        "description": "The same key on the same run is the same act; without one it is a new act",
        "schema": {"type": "string", "minLength": 1, "maxLength": 256},
    }
    later = {"model": RunAct, "description": "The act is on record; its outcome is not known yet"}

    @router.post(
        f"/{{runId}}/{kind}",
        operation_id=words[0] + "".join(word.title() for word in words[1:]) + "Run",
        summary=ACTS[kind],
        responses={202: later, **may_answer(400, 404, 409, 415)},
        openapi_extra={"parameters": [key_parameter], **accepts(model)},
    )
    async def act(
        request: Request, response: Response, run_id: RunId, caller: Caller = may_act
    ) -> RunAct:
        refuse_query(request)
        wish = await read_body(request, model)
        require_reason(wish.reason)
        key = idempotency_key(request) if KEY_HEADER in request.headers else str(uuid.uuid4())
        run = await visible_run(book, run_id, caller)
        effect = wish.effect if isinstance(wish, ActRequest) else None
        asked = ActWish(kind, caller.actor, wish.reason, key, effect or "")
        begun = await desk.begin(run.run_id, asked)
        done = await desk.carry_out(begun.id, _WAIT_SECONDS)
        response.status_code = 200 if done.outcome else 202
        shown = await showing.act(done, run.run_id, caller)
        response.headers["Location"] = shown.href
        status = await showing.status(await visible_run(book, run_id, caller), caller)
        return RunAct(**dict(status), act=shown)


def _add_read(router: APIRouter, callers: Callers, book: RunBook, desk: ActDesk) -> None:
    may_inspect, showing = Depends(callers.may("inspect")), Showing(book)

    @router.get(
        "/{runId}/acts/{actId}",
        operation_id="readAct",
        summary="What became of an act",
        responses=may_answer(400, 404),
    )
    async def read_act(
        request: Request, run_id: RunId, actId: str, caller: Caller = may_inspect
    ) -> Act:
        refuse_query(request)
        run = await visible_run(book, run_id, caller)
        found = await desk.find(run.run_id, well_formed(actId, "path/actId"))
        if found is None:
            raise absent_run()
        return await showing.act(found, run.run_id, caller)


def require_reason(reason: str, place: str = "/reason") -> None:
    """Refused ``act.reason-invalid`` for a text that is empty, long or has control characters."""
    fits = 1 <= len(reason.encode()) <= LONGEST_REASON_BYTES
    if not fits or any(unicodedata.category(one) == "Cc" for one in reason):
        raise refused(
            "act.reason-invalid",
            f"a reason has 1 to {LONGEST_REASON_BYTES} bytes and no control characters",
            place=place,
            remedy="say in one line why this is right",
        )
