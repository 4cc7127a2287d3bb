"""The pretend casework as a person uses it: pending reviews and decisions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from adapter.cli.service_client import ask_open
from adapter.errors import Refused


@dataclass(frozen=True, slots=True)
class PretendCasework:
    """The desk of the pretend products at ``origin``."""

    origin: str

    def pending(self) -> list[dict[str, Any]]:
        """Reviews that nobody has decided, newest first."""
        found: list[dict[str, Any]] = self._ask("GET", "/_control/reviews?state=pending")["reviews"]
        return found

    def decide(self, review: str, decision: str, comment: str | None = None) -> dict[str, Any]:
        """Record a person's decision; Refused with the product's own code for a closed one."""
        body: dict[str, Any] = {"decision": decision}
        if comment is not None:
            body["comment"] = comment
        path = f"/casework/_decide/{quote(review, safe='')}"
        try:
            decided: dict[str, Any] = self._ask("POST", path, body)
        except Refused as refusal:
            # The product's own words are addressed to callers that know its ids.
            raise Refused(
                refusal.code,
                "casework refuses this decision",
                place="--review",
                remedy="name a review that its page lists as waiting",
                status=refusal.status,
            ) from refusal
        return decided

    def fault(self, operation: str, fault: str, **settings: Any) -> None:
        """Have the products fail on the next request of an operation."""
        self._ask("POST", "/_control/faults", {"operation": operation, "fault": fault, **settings})

    def lose_event_of(self, review: str) -> None:
        """Have the completion event of one review go where nobody listens."""
        nowhere = {"url": "http://127.0.0.1:9/", "secret": f"whsec_{'A' * 32}"}
        self._ask("PUT", f"/_control/webhook/{quote(review)}", nowhere)

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        return ask_open(self.origin, method, path, data)
