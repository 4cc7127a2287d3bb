"""The resource /v1/runs/{runId}/signals: what an application tells a run that waits for it."""

from __future__ import annotations

import uuid
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request, Response

from adapter.access import Caller
from adapter.api.bodies import SignalAnswer, read_json
from adapter.api.callers import Callers
from adapter.api.messages import SignalDesk, SignalView, SignalWish
from adapter.api.ports import RunBook
from adapter.api.problems import refused
from adapter.api.requests import (
    KEY_HEADER,
    RunId,
    idempotency_key,
    may_answer,
    refuse_query,
    visible_run,
)

_WAIT_SECONDS = 10.0
_REFUSALS = {
    "late": ("signal.late", "no wait of the run can take this signal any more"),
    "too-many": ("signal.too-many", "as many signals as are kept wait for a wait already"),
}
SignalName = Annotated[
    str, Path(alias="name", max_length=256, description="The name that the wait declares")
]


def signal_routes(callers: Callers, book: RunBook, desk: SignalDesk) -> APIRouter:
    """The route of signals; an answer waits some seconds for the outcome."""
    router = APIRouter(prefix="/v1/runs", tags=["signals"])
    may_signal = Depends(callers.may("signal"))
    key_parameter = {
        "name": KEY_HEADER,
        "in": "header",
        "required": False,
        "description": "The signal's id: sent again it is the same signal; a fresh one without it",
        "schema": {"type": "string", "minLength": 1, "maxLength": 256},
    }
    body = {"required": True, "content": {"application/json": {"schema": {}}}}
    later = {"model": SignalAnswer, "description": "On record: kept, or its outcome is not known"}

    @router.post(
        "/{runId}/signals/{name}",
        operation_id="signalRun",
        summary="Complete a wait on a signal",
        responses={202: later, **may_answer(400, 404, 409, 415, 422)},
        openapi_extra={"parameters": [key_parameter], "requestBody": body},
    )
    async def signal_run(
        request: Request,
        response: Response,
        run_id: RunId,
        name: SignalName,
        caller: Caller = may_signal,
    ) -> SignalAnswer:
        refuse_query(request)
        payload = await read_json(request)
        key = idempotency_key(request) if KEY_HEADER in request.headers else str(uuid.uuid4())
        run = await visible_run(book, run_id, caller)
        begun = await desk.begin(run.run_id, SignalWish(name, caller.actor, key, payload))
        done = await desk.carry_out(begun.id, _WAIT_SECONDS)
        _require_taken(done)
        response.status_code = 200 if done.outcome == "completed" else 202
        return _answer(done, key)

    return router


def _require_taken(signal: SignalView) -> None:
    outcome = "late" if signal.outcome == "kept" and signal.run_closed else signal.outcome
    if outcome in _REFUSALS:
        code, detail = _REFUSALS[outcome]
        raise refused(code, detail, place=signal.id, remedy="read the run's status")


def _answer(signal: SignalView, key: str) -> SignalAnswer:
    return SignalAnswer(
        id=signal.id,
        name=signal.name,
        key=key,
        outcome=signal.outcome or None,
        wait=signal.wait or None,
        recorded_at=signal.recorded_at,
        concluded_at=signal.concluded_at,
    )
