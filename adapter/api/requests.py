"""What the routes have in common: the problems they answer and the queries they refuse."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Request
from pydantic import BaseModel

from adapter.access import Caller
from adapter.api.ports import RunBook, RunView
from adapter.api.problems import MEDIA_TYPE, Problem, refused
from adapter.errors import Refused

KEY_HEADER = "Idempotency-Key"
_KEY = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,254}[\x21-\x7e])?")
_LONGEST_ID = 45
ANSWERS_OF_ALL = (408, 413, 414, 431, 500)
"""Statuses of problems that are told before, or instead of, what a route has to say."""

_TEXT = {"schema": {"type": "string"}}
_RETRY = {"Retry-After": {"description": "Seconds", "schema": {"type": "integer", "minimum": 1}}}
_HEADERS: dict[int, dict[str, Any]] = {
    401: {"WWW-Authenticate": {"description": "The ways to say who calls", **_TEXT}},
    429: _RETRY,
    503: _RETRY,
}

RunId = Annotated[str, Path(alias="runId", description="The id that the start answered")]


def accepts(model: type[BaseModel]) -> dict[str, Any]:
    """The body of a route that reads it itself, for the OpenAPI document."""
    content = {"application/json": {"schema": model.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}


def may_answer(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problem answers of a route that asks who calls, for the OpenAPI document."""
    return problems_of(401, 403, 429, 503, *statuses)


def problems_of(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Problem answers, for the OpenAPI document; what any request may be answered is added."""
    schema = {"$ref": f"#/components/schemas/{Problem.__name__}"}
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": schema}},
            **({"headers": _HEADERS[status]} if status in _HEADERS else {}),
        }
        for status in sorted({*statuses, *ANSWERS_OF_ALL})
    }


def refuse_query(request: Request, *known: str) -> None:
    names = [name for name, _ in request.query_params.multi_items()]
    if len(set(names)) != len(names) or not set(names) <= set(known):
        raise refused(
            "request.invalid",
            "the query has a parameter that is unknown or stands twice",
            place="query",
            remedy="see /openapi.json for the parameters of this resource",
        )


async def visible_run(book: RunBook, run_id: str, caller: Caller) -> RunView:
    """The run; Refused ``run.unknown`` for one that this caller may not know of."""
    run = await book.run(well_formed(run_id), caller.scope)
    if run is None:
        raise absent_run()
    return run


def absent_run() -> Refused:
    """The refusal of a run that is hidden or absent."""
    # The id is not repeated: a hidden run and an absent one get the same bytes.
    return refused(
        "run.unknown", "there is no such run", place="runId", remedy="list the runs you may see"
    )


def well_formed(id: str, place: str = "path/runId") -> str:
    """The canonical spelling of a run's or act's id, whichever spelling of a UUID was sent."""
    try:
        if len(id) > _LONGEST_ID:
            raise ValueError("too long")
        return str(UUID(id))
    except ValueError as error:
        raise refused(
            "request.invalid",
            "this is not the form of an id",
            place=place,
            remedy="use the id that the service answered",
        ) from error


def idempotency_key(request: Request) -> str:
    """The request's one key; Refused ``idempotency.key-invalid``."""
    keys = request.headers.getlist(KEY_HEADER)
    if len(keys) != 1 or _KEY.fullmatch(keys[0]) is None:
        raise refused(
            "idempotency.key-invalid",
            "the request needs one idempotency key of 1 to 256 printable characters",
            place=KEY_HEADER,
            remedy="send one key per wish, and the same one when you repeat it",
        )
    return keys[0]
