"""Messaging: accepting a notice for delivery and proving it by a receipt."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from examples.products.idempotency import Applied, Command, KeyBook
from examples.products.problems import Problem
from examples.products.store import timestamp
from examples.products.wire import (
    digest_of,
    idempotency_key,
    instant,
    optional_text,
    read_object,
    refuse_unknown,
    text,
)

_INVALID = "message-invalid"
_MEMBERS = (
    "senderProfile",
    "to",
    "template",
    "locale",
    "data",
    "content",
    "notBefore",
    "expiresAt",
    "correlationId",
)


class Messaging:
    """Messages. Nothing is really sent: an accepted message is an effect with a receipt."""

    def __init__(self, keys: KeyBook) -> None:
        self._keys = keys

    def routes(self) -> APIRouter:
        """The routes under ``/v1``."""
        router = APIRouter()
        router.add_api_route("/v1/messages", self.submit, methods=["POST"])
        router.add_api_route("/v1/messages/receipt", self.receipt, methods=["POST"])
        return router

    async def submit(self, request: Request) -> Response:
        """Accept a message: 202 with its receipt."""
        command, body = await _command(request)
        return self._keys.accept(command, lambda: _accept(body))

    async def receipt(self, request: Request) -> Response:
        """The receipt of the same key and the same body."""
        command, _ = await _command(request)
        return self._keys.receipt(command)


async def _command(request: Request) -> tuple[Command, dict[str, Any]]:
    key = idempotency_key(request)
    body = await read_object(request)
    _check(body)
    return Command("messaging.submit-message", key, digest_of(body)), body


def _check(body: dict[str, Any]) -> None:
    refuse_unknown(body, _MEMBERS, _INVALID)
    text(body, "senderProfile", _INVALID)
    _channel(body)
    optional_text(body, "locale", _INVALID, limit=35)
    optional_text(body, "correlationId", _INVALID)
    template = body.get("template")
    if template is not None:
        if not isinstance(template, dict):
            raise Problem(422, _INVALID, "template must be an object with id and version.")
        refuse_unknown(template, ("id", "version"), _INVALID)
        text(template, "id", _INVALID)
        if not isinstance(template.get("version"), str | int):
            raise Problem(422, _INVALID, "template.version must be text or a number.")
    if template is None and not body.get("content"):
        raise Problem(422, _INVALID, "Give a template or content.")
    for name in ("notBefore", "expiresAt"):
        if body.get(name) is not None:
            instant(body[name], name, _INVALID)


def _channel(body: dict[str, Any]) -> str:
    to = body.get("to")
    if not isinstance(to, dict) or len(to) != 1 or not set(to) <= {"email", "phone"}:
        raise Problem(422, _INVALID, "to must hold exactly one of email and phone.")
    channel = "email" if "email" in to else "phone"
    address = text(to, channel, _INVALID, limit=320)
    if channel == "email" and "@" not in address:
        raise Problem(422, _INVALID, "to.email must be an address with an @.")
    return channel


def _accept(body: dict[str, Any]) -> Applied:
    template = body.get("template") or {}
    if str(template.get("id", "")).startswith("unknown-"):
        raise Problem(404, "template-not-found", "Use a template and version that exist.")
    if body.get("locale") == "zz":
        raise Problem(404, "locale-unavailable", "Use a locale in which the template exists.")
    if str(body["to"].get("email", "")).endswith("@suppressed.example"):
        raise Problem(409, "recipient-suppressed", "This recipient takes no messages.")
    now = datetime.now(UTC)
    expires = body.get("expiresAt")
    if expires is not None and instant(expires, "expiresAt", _INVALID) <= now:
        raise Problem(409, "message-expired", "expiresAt has passed; nothing was sent.")
    later = body.get("notBefore")
    waits = later is not None and instant(later, "notBefore", _INVALID) > now
    message_id = str(uuid.uuid4())
    receipt = {
        "id": message_id,
        "status": "scheduled" if waits else "accepted",
        "channel": _channel(body),
        "acceptedAt": timestamp(now),
        "notBefore": later,
        "correlationId": body.get("correlationId"),
    }
    return Applied(202, receipt, message_id)
