"""A typed client for the control routes, for tests, benchmarks and commands."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal

import httpx

from examples.products.app import BASE_PATHS

Decision = Literal["approved", "rejected"]


class ControlRefused(Exception):
    """The products refused a control request: ``status``, stable ``code`` and ``detail``."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(f"{detail} [{code}]")
        self.status = status
        self.code = code
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect and how often it was applied; more than once is what must never happen."""

    operation: str
    key: str
    digest: str
    applied: int
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it reached a product; ``outcome`` is a status, ``dropped`` or ``open``."""

    operation: str
    method: str
    target: str
    key: str | None
    traceparent: str | None
    authorised: bool
    arrived_at: str
    body_sha256: str
    outcome: str
    fault: str | None


@dataclass(frozen=True, slots=True)
class Review:
    """A review request as Casework shows it."""

    review_request_id: str
    state: str
    decision: str | None
    subject: dict[str, Any]
    document: dict[str, Any]


class PretendProducts:
    """The products at ``base_url``; synchronous, one connection pool, a context manager."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url.rstrip("/")
        self._http = httpx.Client(base_url=self.base_url, timeout=10, trust_env=False)

    def url(self, product: str) -> str:
        """The base URL of a product for a connection (``breg``, ``casework``, …)."""
        return f"{self.base_url}{BASE_PATHS[product]}"

    def decide(
        self,
        review_request_id: str,
        decision: Decision,
        comment: str | None = None,
        decided_by: str = "reviewer",
    ) -> Review:
        """Decide a pending review as a person would; ``ControlRefused`` 409 for a closed one."""
        asked = {"decision": decision, "comment": comment, "decidedBy": decided_by}
        return _review(self._ask("POST", f"/casework/_decide/{review_request_id}", asked))

    def give_grant(
        self, client_id: str, resource: str, scopes: list[str], **settings: Any
    ) -> dict[str, Any]:
        """A task's grant ``{id, expiresAt}`` as an input carries it; ``settings`` are subject and
        seconds.
        """
        asked = {"clientId": client_id, "resource": resource, "scopes": scopes, **settings}
        return self._ask("POST", "/_control/grants", asked)

    def revoke_grant(self, grant_id: str) -> None:
        """Take a grant back."""
        self._ask("DELETE", f"/_control/grants/{grant_id}")

    def reviews(self, state: str | None = None) -> list[Review]:
        """Review requests, newest first; ``state`` is pending, completed or withdrawn."""
        found = self._ask("GET", "/_control/reviews", params=_given(state=state))
        return [_review(document) for document in found["reviews"]]

    def fault(self, operation: str, fault: str, **settings: Any) -> int:
        """Put a fault into force; its number. ``settings`` are count, probability, seed, seconds,
        status, code, retryAfter, bytes, location and apply.
        """
        asked = {"operation": operation, "fault": fault, **settings}
        number: int = self._ask("POST", "/_control/faults", asked)["number"]
        return number

    def clear_faults(self, operation: str | None = None) -> None:
        """Lift every fault, or those of one operation."""
        self._ask("DELETE", "/_control/faults", params=_given(operation=operation))

    def effects(self, operation: str | None = None) -> list[Effect]:
        """Every effect applied, oldest first, of one operation if given."""
        found = self._ask("GET", "/_control/effects", params=_given(operation=operation))
        return [
            Effect(e["operation"], e["key"], e["digest"], e["applied"], tuple(e["references"]))
            for e in found["effects"]
        ]

    def requests(self, operation: str | None = None) -> list[Received]:
        """The latest requests (at most 5,000), oldest first, of one operation if given."""
        found = self._ask("GET", "/_control/requests", params=_given(operation=operation))
        return [
            Received(
                **{name: r[name] for name in _SAME_NAME},
                arrived_at=r["arrivedAt"],
                body_sha256=r["bodySha256"],
            )
            for r in found["log"]
        ]

    def received(self) -> dict[str, int]:
        """How many requests each operation has received since the last reset."""
        return dict(self._ask("GET", "/_control/requests")["received"])

    def put_record(self, collection: str, record_id: str, fields: dict[str, Any]) -> int:
        """Write a record's fields; its revision."""
        answer = self._ask("PUT", f"/_control/records/{collection}/{record_id}", fields)
        revision: int = answer["revision"]
        return revision

    def remove_record(self, collection: str, record_id: str) -> None:
        """Delete a record."""
        self._ask("DELETE", f"/_control/records/{collection}/{record_id}")

    def publish_registry(self) -> int:
        """Give the registry's description a new revision; commands prepared before mismatch."""
        revision: int = self._ask("POST", "/_control/registry/publish")["revision"]
        return revision

    def answer_external(self, path: str, body: Any, status: int = 200) -> None:
        """Keep an answer of the external directory."""
        self._ask("PUT", f"/_control/external/{path}", {"status": status, "body": body})

    def script_evaluation(self, answers: dict[str, dict[str, Any]]) -> None:
        """Fix evaluation answers by question: probability, choice, level, refusal or raw."""
        self._ask("PUT", "/_control/evaluation", {"answers": answers})

    def expire_keys(self, operation: str = "*") -> None:
        """End the receipt window of keys: the next use of one is 410 ``idempotency-expired``."""
        self._ask("POST", "/_control/keys/expire", params={"operation": operation})

    def forget_keys(self, operation: str = "*") -> None:
        """Forget keys, so that a command sent again shows as applied again."""
        self._ask("DELETE", "/_control/keys", params={"operation": operation})

    def revoke_tokens(self) -> None:
        """Make every issued token worthless."""
        self._ask("DELETE", "/_control/tokens")

    def webhook(self, url: str, secret: str, review_request_id: str | None = None) -> None:
        """Send completion events of one review, or of all, to a URL, signed with a secret."""
        path = "/_control/webhook" + (f"/{review_request_id}" if review_request_id else "")
        self._ask("PUT", path, {"url": url, "secret": secret})

    def registry_events(self, url: str, secret: str, source: str) -> None:
        """Send an event for every new record to a URL, as this ``source``."""
        body = {"url": url, "secret": secret, "source": source}
        self._ask("PUT", "/_control/registry/events", body)

    def announce(self, review_request_id: str) -> str:
        """Send one more completion event about a review; its message id."""
        sent = self._ask("POST", f"/_control/webhook/{review_request_id}")
        message_id: str = sent["messageId"]
        return message_id

    def deliveries(self) -> list[dict[str, Any]]:
        """Every completion event: messageId, reviewRequestId, state, attempts, lastAnswer."""
        return list(self._ask("GET", "/_control/webhook")["deliveries"])

    def reset(self) -> None:
        """Forget everything, faults included, and plant the seed data again."""
        self._ask("POST", "/_control/reset")

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> PretendProducts:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(
        self, method: str, path: str, body: Any = None, params: dict[str, str] | None = None
    ) -> dict[str, Any]:
        answer = self._http.request(method, path, json=body, params=params)
        document: dict[str, Any] = answer.json()
        if answer.is_error:
            raise ControlRefused(answer.status_code, document["code"], document["detail"])
        return document


_SAME_NAME = (
    "operation",
    "method",
    "target",
    "key",
    "traceparent",
    "authorised",
    "outcome",
    "fault",
)


def _given(**parameters: str | None) -> dict[str, str]:
    return {name: value for name, value in parameters.items() if value is not None}


def _review(document: dict[str, Any]) -> Review:
    return Review(
        document["reviewRequestId"],
        document["state"],
        (document["result"] or {}).get("decision"),
        document["subject"],
        document,
    )
