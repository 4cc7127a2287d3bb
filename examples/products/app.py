"""The FastAPI application that holds every pretend product under a path of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, Depends, FastAPI, params
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

from examples.products.casework import Casework
from examples.products.casework_page import CaseworkPage
from examples.products.control import FaultControl, LedgerControl, RecordControl
from examples.products.directory import Directory
from examples.products.evaluation import Evaluation
from examples.products.fault_layer import FaultLayer
from examples.products.faults import FaultPlan
from examples.products.grants import TaskGrants
from examples.products.idempotency import KeyBook
from examples.products.issued import IssuedTokens
from examples.products.messaging import Messaging
from examples.products.problems import Problem
from examples.products.registry import Registry
from examples.products.scheduling import Scheduling
from examples.products.seeds import plant
from examples.products.settings import ProductsSettings
from examples.products.store import Store
from examples.products.tokens import TokenDesk
from examples.products.tracing import trace_of
from examples.products.traffic import Traffic
from examples.products.webhooks import EventWebhook

#: The path of each product; joined to the address of the process it is a connection's base URL.
BASE_PATHS = {
    "breg": "/registry",
    "casework": "/casework",
    "messaging": "/messaging",
    "scheduling": "/scheduling",
    "evaluation": "/evaluation",
    "external": "/external",
}

_Mounted = tuple[str, APIRouter, list[params.Depends]]


def create_app(settings: ProductsSettings | None = None) -> ASGIApp:
    """Build the products over their state; the state is closed when the application stops.

    The answer is an ASGI application: FastAPI inside the layer that counts and lets faults strike,
    which must be outermost to reach the connection.
    """
    settings = settings or ProductsSettings()
    store = Store(settings.state_directory)
    plan, traffic = FaultPlan(), Traffic()
    webhook = EventWebhook(store, settings.webhook, settings.webhook_delays)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        try:
            async with webhook.running():
                yield
        finally:
            store.close()

    app = FastAPI(title="Pretend products", openapi_url=None, lifespan=lifespan)
    for prefix, router, dependencies in _products(store, plan, traffic, webhook, settings):
        app.include_router(router, prefix=prefix, dependencies=dependencies)
    app.add_api_route("/", _index, methods=["GET"])
    app.add_api_route("/health", _health, methods=["GET"])
    app.add_exception_handler(Problem, _on_problem)
    app.add_exception_handler(HTTPException, _on_no_route)
    app.add_exception_handler(RequestValidationError, _on_no_route)
    app.add_exception_handler(ClientDisconnect, _on_nobody_left)
    return FaultLayer(app, plan, traffic)


def _products(
    store: Store,
    plan: FaultPlan,
    traffic: Traffic,
    webhook: EventWebhook,
    settings: ProductsSettings,
) -> tuple[_Mounted, ...]:
    keys = KeyBook(store, settings.receipt_window_seconds)
    issued = None if settings.issuer is None else IssuedTokens(settings.issuer)
    desk = TokenDesk(store, settings.oauth, settings.bearer, issued)
    grants = TaskGrants(store, settings.grants)
    registry, directory = Registry(store, keys), Directory(store)
    casework, evaluation = Casework(store, keys, webhook), Evaluation(store, keys)

    def reset() -> None:
        store.clear()
        plan.clear()
        traffic.clear()
        plant(store, registry, directory)

    plant(store, registry, directory)
    ledger = LedgerControl(keys, traffic, casework, webhook, desk, reset)
    guarded, open_to_all = [Depends(desk.require)], [Depends(desk.allow_anonymous)]
    return (
        ("/casework", CaseworkPage(casework).routes(), []),
        ("/registry", registry.routes(), guarded),
        ("/casework", casework.routes(), guarded),
        ("/casework", grants.routes(), guarded),
        ("/messaging", Messaging(keys).routes(), guarded),
        ("/scheduling", Scheduling(store, keys).routes(), guarded),
        ("/evaluation", evaluation.routes(), open_to_all),
        ("/external", directory.routes(), open_to_all),
        ("/oauth", desk.routes(), []),
        ("/_control", FaultControl(plan).routes(), []),
        ("/_control", RecordControl(registry, directory, evaluation, webhook).routes(), []),
        ("/_control", grants.control(), []),
        ("/_control", ledger.routes(), []),
    )


async def _index(request: Request) -> Response:
    here = str(request.base_url).rstrip("/")
    products = {product: f"{here}{path}" for product, path in BASE_PATHS.items()}
    return JSONResponse({"products": products, "page": f"{here}/casework/"})


async def _health() -> Response:
    return JSONResponse({"live": True})


async def _on_problem(request: Request, error: Exception) -> Response:
    if not isinstance(error, Problem):
        raise error
    return error.response(trace_of(request))


async def _on_no_route(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 422
    code = {404: "not-found", 405: "method-not-allowed"}.get(status, "request-invalid")
    problem = Problem(status, code, "There is no such thing to ask for here.")
    return problem.response(trace_of(request))


async def _on_nobody_left(request: Request, error: Exception) -> Response:
    return Response(status_code=400)
