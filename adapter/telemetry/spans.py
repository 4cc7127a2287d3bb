"""Spans of a process: made by OpenTelemetry, stripped of all but names, ids and codes, exported."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from opentelemetry.context import Context
from opentelemetry.propagators.textmap import default_getter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Status, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import Attributes

from adapter.errors import Unavailable

_PARENT = re.compile(r"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_SHOWN = frozenset(
    {
        "coordinator.class",
        "coordinator.connection",
        "coordinator.operation",
        "exception.type",
        "http.request.method",
        "http.response.status_code",
        "http.route",
        "temporalActivityID",
        "temporalActivityType",
        "temporalRunID",
        "temporalUpdateID",
        "temporalWorkflowID",
    }
)
_FILE_DELAY, _COLLECTOR_DELAY = 500.0, 5_000.0
_EXPORT_SECONDS = 3.0
_propagator = TraceContextTextMapPropagator()


class Discreet(SpanExporter):
    """Passes spans on without attributes that are not listed, and without any error's words.

    What an error says may quote a value: of an exception only its type goes out.
    """

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export what may be seen of the spans."""
        return self._exporter.export([_shown(span) for span in spans])

    def shutdown(self) -> None:
        """End the exporter."""
        self._exporter.shutdown()


class FileExporter(SpanExporter):
    """Appends a line of JSON for each span; several processes may write to one file."""

    def __init__(self, path: Path) -> None:
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._descriptor = os.open(path, flags, 0o600)
        except OSError as error:
            raise Unavailable(
                "telemetry.file-unusable",
                "the file for traces can not be written",
                place="/telemetry/traces/file",
                remedy="name a file in a folder that this process may write to",
            ) from error

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Write the spans."""
        try:
            for span in spans:
                line = json.dumps(json.loads(span.to_json()), separators=(",", ":"))
                # One write for each line: lines of several processes do not mix.
                os.write(self._descriptor, line.encode() + b"\n")
        except OSError:
            return SpanExportResult.FAILURE
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


class Spans:
    """The tracer of one process; ``close`` sends what is left, for a few seconds at most."""

    def __init__(self, exporter: SpanExporter, delay: float, labels: dict[str, str]) -> None:
        # An own provider: nothing outside this room is traced because a library has been loaded.
        self._provider = TracerProvider(resource=Resource(labels), shutdown_on_exit=False)
        self._provider.add_span_processor(
            BatchSpanProcessor(Discreet(exporter), schedule_delay_millis=delay)
        )

    @classmethod
    def to_file(cls, path: Path, labels: dict[str, str]) -> Spans:
        """Spans as lines of a file; Unavailable ``telemetry.file-unusable``."""
        return cls(FileExporter(path), _FILE_DELAY, labels)

    @classmethod
    def to_collector(
        cls, endpoint: str, authorization: str | None, labels: dict[str, str]
    ) -> Spans:
        """Spans to an OTLP collector over HTTP; one that is away costs spans, never a run."""
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        headers = {} if authorization is None else {"Authorization": authorization}
        exporter = OTLPSpanExporter(endpoint=endpoint, headers=headers, timeout=_EXPORT_SECONDS)
        return cls(exporter, _COLLECTOR_DELAY, labels)

    @property
    def tracer(self) -> Tracer:
        """What begins spans."""
        return self._provider.get_tracer("coordinator")

    def close(self) -> None:
        """Export what is left and end."""
        self._provider.shutdown()


def parent_of(traceparent: str) -> Context:
    """The context of a W3C ``traceparent`` header; an empty one for anything else.

    ``tracestate`` and baggage are free text of a stranger, and are not passed on.
    """
    if _PARENT.fullmatch(traceparent) is None:
        return Context()
    return _propagator.extract({"traceparent": traceparent}, Context(), default_getter)


def trace_headers() -> tuple[tuple[str, str], ...]:
    """The ``traceparent`` header of the present span, if there is one."""
    carrier: dict[str, str] = {}
    _propagator.inject(carrier)
    parent = carrier.get("traceparent")
    return () if parent is None else (("traceparent", parent),)


def _shown(span: ReadableSpan) -> ReadableSpan:
    return ReadableSpan(
        name=span.name,
        context=span.get_span_context(),
        parent=span.parent,
        resource=span.resource,
        attributes=_listed(span.attributes),
        events=[Event(one.name, _listed(one.attributes), one.timestamp) for one in span.events],
        links=span.links,
        kind=span.kind,
        instrumentation_scope=span.instrumentation_scope,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
    )


def _listed(attributes: Attributes) -> Attributes:
    return {name: value for name, value in (attributes or {}).items() if name in _SHOWN}
