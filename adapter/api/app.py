"""The HTTP application, put together from ports: routers, problem documents and limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from standardwebhooks.webhooks import Webhook

from adapter.api.acts import act_routes
from adapter.api.callers import Access, Callers
from adapter.api.codec import CODEC_PREFIX, LARGEST_CODEC_BODY_BYTES, Codec, codec_routes
from adapter.api.completions import completion_routes
from adapter.api.events import event_routes
from adapter.api.health import open_routes
from adapter.api.limits import Limits
from adapter.api.messages import EventSource, SignalDesk
from adapter.api.oversight import oversight_routes
from adapter.api.pages import OtherPages
from adapter.api.ports import ActDesk, Executions, Oversight, RunBook
from adapter.api.problems import Problem, answer_with_problems
from adapter.api.runs import run_routes
from adapter.api.signals import signal_routes
from adapter.api.workflows import workflow_routes

VERSION = "1"
_DESCRIPTION = "Starts workflow runs and shows how they stand. Problems are RFC 9457 documents."

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Service:
    """What the application is built from.

    ``completions`` holds product -> verifier of its signed completion events, ``event_sources``
    whose events may admit runs; ``after_commit`` is called once an admission is durable and before
    its execution is started. Without ``codec`` there is no codec server.
    """

    book: RunBook
    executions: Executions
    acts: ActDesk
    access: Access
    completions: Mapping[str, Webhook]
    oversight: Oversight
    signals: SignalDesk
    event_sources: Sequence[EventSource] = ()
    after_commit: Callable[[], None] = _nothing
    codec: Codec | None = None


def create_app(service: Service, lifespan: Lifespan | None = None) -> FastAPI:
    """The application of a service."""
    # The pages that FastAPI offers for the document load scripts from elsewhere: left out.
    app = FastAPI(
        title="Coordinator",
        version=VERSION,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    callers = Callers(service.access)
    app.include_router(run_routes(callers, service.book, service.executions, service.after_commit))
    app.include_router(act_routes(callers, service.book, service.acts))
    app.include_router(signal_routes(callers, service.book, service.signals))
    app.include_router(oversight_routes(callers, service.oversight))
    app.include_router(workflow_routes(callers, service.book))
    app.include_router(completion_routes(service.completions, service.executions))
    app.include_router(
        event_routes(service.event_sources, service.book, service.executions, service.after_commit)
    )
    app.include_router(open_routes(service.book, service.executions))
    answer_with_problems(app, service.access)
    larger: dict[str, int] = {}
    if service.codec is not None:
        app.include_router(codec_routes(callers, service.book, service.codec))
        app.add_middleware(OtherPages, prefix=CODEC_PREFIX, origins=service.codec.origins)
        larger[CODEC_PREFIX] = LARGEST_CODEC_BODY_BYTES
    app.add_middleware(Limits, larger=larger)
    app.openapi = lambda: _document(app)  # type: ignore[method-assign]
    return app


def _document(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        schemas = document["components"]["schemas"]
        schemas[Problem.__name__] = Problem.model_json_schema()
        # Parameters are refused with a problem document of status 400, never with FastAPI's 422.
        for path in document["paths"].values():
            for operation in path.values():
                if "HTTPValidationError" in str(operation["responses"].get("422")):
                    del operation["responses"]["422"]
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        app.openapi_schema = document
    return app.openapi_schema
