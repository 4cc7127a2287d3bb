"""The external directory: plain JSON over HTTP, with none of the products' contract headers."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from examples.products.store import Store


class Directory:
    """Answers kept by path; a query filters the ``items`` of a list by equal text members."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def routes(self) -> APIRouter:
        """One route for every path."""
        router = APIRouter()
        router.add_api_route("/{path:path}", self.read, methods=["GET"])
        return router

    async def read(self, request: Request, path: str) -> Response:
        """The kept answer, or 404 as plain JSON."""
        row = self._store.one("SELECT * FROM directory WHERE path = ?", path)
        if row is None:
            return JSONResponse({"error": "not-found"}, 404)
        return JSONResponse(_filtered(json.loads(row["body"]), request), row["status"])

    def put(self, path: str, status: int, body: Any) -> None:
        """Keep an answer for a path."""
        self._store.run(
            "INSERT OR REPLACE INTO directory VALUES (?, ?, ?)", path, status, json.dumps(body)
        )


def _filtered(body: Any, request: Request) -> Any:
    wanted = dict(request.query_params)
    if not wanted or not isinstance(body, dict) or not isinstance(body.get("items"), list):
        return body
    items = [
        item
        for item in body["items"]
        if isinstance(item, dict) and all(str(item.get(k)) == v for k, v in wanted.items())
    ]
    return {**body, "items": items}
