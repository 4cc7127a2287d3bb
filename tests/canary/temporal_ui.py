"""What Temporal's web UI shows: every JSON that its pages ask for."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from tests.canary.reading import NotSearched, fetched

_QUERIES = ("__temporal_workflow_metadata", "__stack_trace", "__enhanced_stack_trace")
_SECONDS = 30
_Found = Iterator[tuple[str, bytes]]


def temporal_ui(origin: str) -> _Found:
    """All of it; NotSearched when a page does not answer, or no query does."""
    yield from fetched(f"{origin}/api/v1/settings")
    pages = _Pages(origin, _token(origin))
    executions: list[dict[str, str]] = []
    for label, page in pages.listed("workflows", "nextPageToken"):
        executions += [one["execution"] for one in json.loads(page).get("executions", [])]
        yield label, page
    if not executions:
        raise NotSearched("the UI lists no execution")
    answered = 0
    for execution in executions:
        yield from pages.of_execution(execution)
        for label, answer, status in pages.queried(execution):
            answered += status == 200
            yield label, answer
    if not answered:
        raise NotSearched("no execution answered a query")
    for label, page in pages.listed("schedules", "nextPageToken"):
        yield label, page
        for schedule in json.loads(page).get("schedules", []):
            yield from pages.read(f"schedules/{quote(schedule['scheduleId'], safe='')}")


def _token(origin: str) -> str:
    """What the UI's server wants to hear again with every request that is no GET."""
    with urllib.request.urlopen(f"{origin}/api/v1/settings", timeout=_SECONDS) as answer:
        cookie: str = answer.headers["set-cookie"]
    return cookie.partition(";")[0].partition("=")[2]


@dataclass(frozen=True, slots=True)
class _Pages:
    origin: str
    token: str

    def read(self, path: str, **asked: Any) -> list[tuple[str, bytes]]:
        query = f"?{urlencode(asked)}" if asked else ""
        return list(fetched(f"{self.origin}/api/v1/namespaces/default/{path}{query}"))

    def listed(self, path: str, member: str, **asked: Any) -> _Found:
        """Every page of a list."""
        token = ""
        while True:
            [(label, page)] = self.read(path, **asked, nextPageToken=token)
            yield label, page
            token = json.loads(page).get(member) or ""
            if not token:
                return

    def of_execution(self, execution: dict[str, str]) -> _Found:
        """What stands in an execution's page and its history."""
        path = f"workflows/{quote(execution['workflowId'], safe='')}"
        asked = {"execution.runId": execution["runId"]}
        yield from self.read(path, **asked)
        yield from self.listed(f"{path}/history", "nextPageToken", **asked, maximumPageSize=500)

    def queried(self, execution: dict[str, str]) -> Iterator[tuple[str, bytes, int]]:
        """What an execution says of itself: its details and its stack."""
        path = f"workflows/{quote(execution['workflowId'], safe='')}/query"
        headers = {
            "content-type": "application/json",
            "cookie": f"_csrf={self.token}",
            "x-csrf-token": self.token,
        }
        for query in _QUERIES:
            body = json.dumps({"execution": execution, "query": {"queryType": query}}).encode()
            url = f"{self.origin}/api/v1/namespaces/default/{path}/{query}"
            try:
                request = urllib.request.Request(url, body, headers)
                with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
                    yield f"{path}/{query}", answer.read(), 200
            except urllib.error.HTTPError as error:
                # A closed execution whose definition nobody knows has nothing to say.
                yield f"{path}/{query}", error.read(), error.code
