"""Spans on their way to an OTLP collector."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from adapter.embedded import free_port
from adapter.telemetry.spans import Spans


class Collector(HTTPServer):
    """Keeps the authorization and the body of each request."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Taking)
        self.taken: list[tuple[str | None, bytes]] = []

    @property
    def endpoint(self) -> str:
        """Where spans go."""
        return f"http://127.0.0.1:{self.server_port}/v1/traces"


class _Taking(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        assert isinstance(self.server, Collector)
        self.server.taken.append((self.headers["authorization"], body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector on a thread of its own."""
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_spans_reach_the_collector_with_its_authorization(collector: Collector) -> None:
    spans = Spans.to_collector(collector.endpoint, "Bearer fine", {"service.name": "test"})
    with spans.tracer.start_as_current_span("work", attributes={"body": "secret"}):
        pass
    spans.close()
    [(authorization, body)] = collector.taken
    [resource] = ExportTraceServiceRequest.FromString(body).resource_spans
    assert [one.name for one in resource.scope_spans[0].spans] == ["work"]
    assert authorization == "Bearer fine"
    assert b"secret" not in body


def test_a_collector_that_is_away_keeps_a_process_for_seconds_only() -> None:
    spans = Spans.to_collector(f"http://127.0.0.1:{free_port()}/v1/traces", None, {})
    with spans.tracer.start_as_current_span("work"):
        pass
    begun = time.monotonic()
    spans.close()
    assert time.monotonic() - begun < 10
