"""The control routes: faults, effects, traffic, seeding and reset, for tests and demonstrations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from examples.products.casework import Casework
from examples.products.directory import Directory
from examples.products.evaluation import Evaluation
from examples.products.faults import FaultPlan
from examples.products.idempotency import KeyBook
from examples.products.operations import operation_named
from examples.products.problems import Problem
from examples.products.registry import Registry
from examples.products.registry_actions import ENTITIES
from examples.products.settings import WebhookTarget
from examples.products.tokens import TokenDesk
from examples.products.traffic import Traffic
from examples.products.webhooks import EventWebhook
from examples.products.wire import read_object, refuse_unknown, text

_INVALID = "control-invalid"


class FaultControl:
    """``/faults``: asking for faults, listing them, lifting them."""

    def __init__(self, plan: FaultPlan) -> None:
        self._plan = plan

    def routes(self) -> APIRouter:
        """POST, GET and DELETE on one path."""
        router = APIRouter()
        router.add_api_route("/faults", self.add, methods=["POST"])
        router.add_api_route("/faults", self.list, methods=["GET"])
        router.add_api_route("/faults", self.clear, methods=["DELETE"])
        return router

    async def add(self, request: Request) -> Response:
        """Put one fault into force: 201 with the fault as understood."""
        fault = self._plan.add(await read_object(request))
        return JSONResponse(asdict(fault), 201)

    async def list(self) -> Response:
        """The faults in force."""
        return JSONResponse({"faults": self._plan.documents()})

    async def clear(self, operation: str | None = None) -> Response:
        """Lift all faults, or those of ``?operation=``."""
        named = None if operation is None else operation_named(operation)
        return JSONResponse({"lifted": self._plan.clear(named)})


class RecordControl:
    """Everything that a test may plant: records, directory answers, evaluation scripts."""

    def __init__(
        self,
        registry: Registry,
        directory: Directory,
        evaluation: Evaluation,
        webhook: EventWebhook,
    ) -> None:
        self._webhook = webhook
        self._registry = registry
        self._directory = directory
        self._evaluation = evaluation

    def routes(self) -> APIRouter:
        """The planting routes."""
        router = APIRouter()
        path = "/records/{collection}/{record_id}"
        router.add_api_route(path, self.put_record, methods=["PUT"])
        router.add_api_route(path, self.remove_record, methods=["DELETE"])
        router.add_api_route("/registry/publish", self.publish, methods=["POST"])
        router.add_api_route("/registry/events", self.point, methods=["PUT"])
        router.add_api_route("/external/{path:path}", self.put_answer, methods=["PUT"])
        router.add_api_route("/evaluation", self.script, methods=["PUT"])
        return router

    async def put_record(self, request: Request, collection: str, record_id: str) -> Response:
        """Write a record; the body is its fields. A new one is announced."""
        fields = await read_object(request)
        revision = self._registry.put(collection, record_id, fields)
        if revision == 1:
            self._webhook.submitted(ENTITIES.get(collection, collection), record_id, fields)
            self._webhook.wake()
        return JSONResponse({"recordId": record_id, "revision": revision})

    async def point(self, request: Request) -> Response:
        """Send the events of new records to ``{"url", "secret", "source"}``."""
        asked = await read_object(request)
        refuse_unknown(asked, ("url", "secret", "source"), _INVALID)
        url, secret = text(asked, "url", _INVALID, limit=2_000), text(asked, "secret", _INVALID)
        source = text(asked, "source", _INVALID)
        self._webhook.point_registry(WebhookTarget(url, secret), source)
        return JSONResponse({"url": url, "source": source})

    async def remove_record(self, collection: str, record_id: str) -> Response:
        """Delete a record."""
        self._registry.remove(collection, record_id)
        return JSONResponse({"recordId": record_id})

    async def publish(self) -> Response:
        """Change the registry's description, so that prepared commands no longer match."""
        return JSONResponse({"revision": self._registry.publish()})

    async def put_answer(self, request: Request, path: str) -> Response:
        """Keep ``{"status", "body"}`` as the answer of a directory path."""
        asked = await read_object(request)
        refuse_unknown(asked, ("status", "body"), _INVALID)
        status = asked.get("status", 200)
        if isinstance(status, bool) or not isinstance(status, int) or not 200 <= status <= 599:
            raise Problem(422, _INVALID, "status must be from 200 to 599.")
        self._directory.put(path, status, asked.get("body"))
        return JSONResponse({"path": path, "status": status})

    async def script(self, request: Request) -> Response:
        """Fix evaluation answers: ``{"answers": {question: script}}``."""
        asked = await read_object(request)
        refuse_unknown(asked, ("answers",), _INVALID)
        answers = asked.get("answers")
        if not isinstance(answers, dict) or not all(isinstance(a, dict) for a in answers.values()):
            raise Problem(422, _INVALID, "answers must be an object of objects.")
        self._evaluation.script(answers)
        return JSONResponse({"questions": sorted(answers)})


class LedgerControl:
    """What happened: effects, requests, reviews, deliveries; and forgetting it."""

    def __init__(
        self,
        keys: KeyBook,
        traffic: Traffic,
        casework: Casework,
        webhook: EventWebhook,
        desk: TokenDesk,
        reset: Callable[[], None],
    ) -> None:
        self._keys = keys
        self._traffic = traffic
        self._casework = casework
        self._webhook = webhook
        self._desk = desk
        self._reset = reset

    def routes(self) -> APIRouter:
        """The reading and forgetting routes."""
        router = APIRouter()
        router.add_api_route("/effects", self.effects, methods=["GET"])
        router.add_api_route("/requests", self.requests, methods=["GET"])
        router.add_api_route("/reviews", self.reviews, methods=["GET"])
        router.add_api_route("/keys/expire", self.expire, methods=["POST"])
        router.add_api_route("/keys", self.forget, methods=["DELETE"])
        router.add_api_route("/tokens", self.revoke, methods=["DELETE"])
        router.add_api_route("/reset", self.reset, methods=["POST"])
        router.add_api_route("/webhook", self.point_all, methods=["PUT"])
        router.add_api_route("/webhook", self.deliveries, methods=["GET"])
        router.add_api_route("/webhook/{review_id}", self.point_one, methods=["PUT"])
        router.add_api_route("/webhook/{review_id}", self.announce, methods=["POST"])
        return router

    async def effects(self, operation: str | None = None) -> Response:
        """Every effect and how often it was applied; ``?operation=`` narrows it."""
        return JSONResponse({"effects": self._keys.effects(_plain(operation))})

    async def requests(self, operation: str | None = None) -> Response:
        """Counters by operation and the log of the latest requests."""
        return JSONResponse(
            {"received": self._traffic.counters(), "log": self._traffic.log(_plain(operation))}
        )

    async def reviews(self, state: str | None = None) -> Response:
        """Review requests, newest first; ``?state=`` narrows it."""
        return JSONResponse({"reviews": self._casework.reviews(state)})

    async def expire(self, operation: str = "*") -> Response:
        """End the receipt window of keys now."""
        return JSONResponse({"expired": self._keys.expire(operation_named(operation))})

    async def forget(self, operation: str = "*") -> Response:
        """Forget keys, so that a command sent again is applied again and shows in the effects."""
        return JSONResponse({"forgotten": self._keys.forget(operation_named(operation))})

    async def revoke(self) -> Response:
        """Make every issued token worthless."""
        return JSONResponse({"revoked": self._desk.revoke()})

    async def reset(self) -> Response:
        """Forget everything and plant the seed data again."""
        self._reset()
        return JSONResponse({"reset": True})

    async def point_all(self, request: Request) -> Response:
        """Send the completion events of every review to ``{"url", "secret"}``."""
        target = await _target(request)
        self._webhook.point(target)
        return JSONResponse({"url": target.url})

    async def point_one(self, request: Request, review_id: str) -> Response:
        """Send the completion events of one review to ``{"url", "secret"}``."""
        target = await _target(request)
        self._webhook.point(target, review_id)
        return JSONResponse({"reviewRequestId": review_id, "url": target.url})

    async def announce(self, review_id: str) -> Response:
        """Send one more event about a review, decided or not, as a product that repeats itself."""
        message_id = self._webhook.announce(review_id)
        if message_id is None:
            raise Problem(409, "webhook-not-configured", "Name a target first.")
        self._webhook.wake()
        return JSONResponse({"messageId": message_id}, 202)

    async def deliveries(self) -> Response:
        """Every event with the state of its delivery."""
        return JSONResponse({"deliveries": self._webhook.deliveries()})


def _plain(operation: str | None) -> str | None:
    return None if operation is None else operation_named(operation)


async def _target(request: Request) -> WebhookTarget:
    asked: dict[str, Any] = await read_object(request)
    refuse_unknown(asked, ("url", "secret"), _INVALID)
    return WebhookTarget(text(asked, "url", _INVALID, limit=2_000), text(asked, "secret", _INVALID))
