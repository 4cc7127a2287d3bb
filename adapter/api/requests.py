"""What the routes have in common: the problems they answer and the queries they refuse."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from adapter.api.problems import MEDIA_TYPE, Problem, refused


def may_answer(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problem answers of a route, for the OpenAPI document."""
    always = (401, 403, 503)
    schema = {"$ref": f"#/components/schemas/{Problem.__name__}"}
    return {
        status: {"description": "Problem", "content": {MEDIA_TYPE: {"schema": schema}}}
        for status in sorted({*always, *statuses})
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
