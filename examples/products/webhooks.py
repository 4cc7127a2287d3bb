"""Events of casework and registry: signed, delivered in the background, with back-off."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any

import httpx
from standardwebhooks import Webhook

from examples.products.problems import Problem
from examples.products.settings import WebhookTarget
from examples.products.store import Store, timestamp

EVENT_TYPE = "casework.review-request.completed"
_BATCH = 20
_EVERY_REVIEW = "*"
_REGISTRY = "registry:"


class EventWebhook:
    """Announces that a review is decided, and that the registry has a new record.

    The first is a hint and carries no result; the second is a CloudEvent that may start something.
    """

    def __init__(
        self, store: Store, default: WebhookTarget | None, delays: tuple[float, ...]
    ) -> None:
        self._store = store
        self._default = default
        self._delays = delays
        self._news = asyncio.Event()

    def point(self, target: WebhookTarget, review_id: str = _EVERY_REVIEW) -> None:
        """Send the events of one review, or of every review, to a target from now on.

        Raises ``Problem`` 422 for a URL that is not http(s) or a secret that can not sign.
        """
        if not target.url.startswith(("http://", "https://")):
            raise Problem(422, "webhook-invalid", "url must be an http or https URL.")
        try:
            Webhook(target.secret)
        except Exception as error:
            raise Problem(
                422, "webhook-invalid", "secret must be whsec_ followed by base64."
            ) from error
        self._store.run(
            "INSERT OR REPLACE INTO webhook_targets VALUES (?, ?, ?)",
            review_id,
            target.url,
            target.secret,
        )

    def announce(self, review_id: str) -> str | None:
        """Queue one event about a review inside the caller's transaction; its message id.

        Without a target there is nothing to queue and the answer is ``None``.
        """
        if self._target(review_id) is None:
            return None
        payload = {
            "type": EVENT_TYPE,
            "timestamp": timestamp(),
            "data": {"reviewRequestId": review_id},
        }
        return self._queue(review_id, payload)

    def point_registry(self, target: WebhookTarget, source: str) -> None:
        """Send the registry's events to a target from now on, with this ``source``."""
        self._store.run("DELETE FROM webhook_targets WHERE review_id LIKE 'registry:%'")
        self.point(target, f"{_REGISTRY}{source}")

    def submitted(self, entity: str, record_id: str, fields: dict[str, Any]) -> str | None:
        """Queue the event of a new record; its message id, ``None`` without a target."""
        row = self._store.one(
            "SELECT review_id FROM webhook_targets WHERE review_id LIKE 'registry:%'"
        )
        if row is None:
            return None
        event = {
            "specversion": "1.0",
            "id": str(uuid.uuid4()),
            "source": row["review_id"].removeprefix(_REGISTRY),
            "type": f"registry.{entity}.submitted",
            "time": timestamp(),
            "subject": record_id,
            "data": {
                "recordId": record_id,
                "submittedVia": fields.get("submittedVia", "portal"),
            },
        }
        return self._queue(row["review_id"], event)

    def _queue(self, subject: str, payload: dict[str, Any]) -> str:
        message_id = f"msg_{uuid.uuid4().hex}"
        self._store.run(
            "INSERT INTO deliveries VALUES (?, ?, ?, 'pending', 0, ?, NULL)",
            message_id,
            subject,
            json.dumps(payload),
            time.time(),
        )
        return message_id

    def wake(self) -> None:
        """Look for due deliveries now."""
        self._news.set()

    def deliveries(self) -> list[dict[str, Any]]:
        """Every event with the state and the number of its attempts."""
        return [
            {
                "messageId": row["message_id"],
                "reviewRequestId": row["review_id"],
                "state": row["state"],
                "attempts": row["attempts"],
                "lastAnswer": row["last_answer"],
            }
            for row in self._store.all("SELECT * FROM deliveries ORDER BY rowid")
        ]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Deliver in the background while the context is open."""
        async with httpx.AsyncClient(timeout=5, trust_env=False) as client:
            task = asyncio.create_task(self._deliver_for_ever(client))
            try:
                yield
            finally:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    async def _deliver_for_ever(self, client: httpx.AsyncClient) -> None:
        while True:
            self._news.clear()
            due = self._store.all(
                "SELECT * FROM deliveries WHERE state = 'pending' AND due_at <= ?"
                " ORDER BY due_at LIMIT ?",
                time.time(),
                _BATCH,
            )
            if due:
                await asyncio.gather(*(self._attempt(client, dict(row)) for row in due))
                continue
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), self._seconds_until_due())

    def _seconds_until_due(self) -> float | None:
        row = self._store.one("SELECT min(due_at) AS due FROM deliveries WHERE state = 'pending'")
        due = row["due"] if row is not None else None
        return None if due is None else max(0.0, due - time.time())

    async def _attempt(self, client: httpx.AsyncClient, delivery: dict[str, Any]) -> None:
        target = self._target(delivery["review_id"])
        if target is None:
            self._note(delivery, "no target", delivered=False)
            return
        sent_at = datetime.now(UTC)
        signature = Webhook(target.secret).sign(
            delivery["message_id"], sent_at, delivery["payload"]
        )
        headers = {
            "content-type": "application/json",
            "webhook-id": delivery["message_id"],
            "webhook-timestamp": str(int(sent_at.timestamp())),
            "webhook-signature": signature,
        }
        try:
            answer = await client.post(target.url, content=delivery["payload"], headers=headers)
        except httpx.HTTPError as error:
            self._note(delivery, type(error).__name__, delivered=False)
        else:
            self._note(delivery, str(answer.status_code), delivered=answer.is_success)

    def _note(self, delivery: dict[str, Any], answer: str, *, delivered: bool) -> None:
        attempts = delivery["attempts"] + 1
        delays = self._delays
        state = "delivered" if delivered else "pending" if attempts <= len(delays) else "abandoned"
        wait = delays[attempts - 1] if state == "pending" else 0.0
        self._store.run(
            "UPDATE deliveries SET state = ?, attempts = ?, due_at = ?, last_answer = ?"
            " WHERE message_id = ?",
            state,
            attempts,
            time.time() + wait,
            answer,
            delivery["message_id"],
        )

    def _target(self, review_id: str) -> WebhookTarget | None:
        row = self._store.one(
            "SELECT url, secret FROM webhook_targets WHERE review_id IN (?, '*')"
            " ORDER BY review_id = '*' LIMIT 1",
            review_id,
        )
        return self._default if row is None else WebhookTarget(row["url"], row["secret"])
