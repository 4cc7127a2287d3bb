"""The metrics of this project, on the endpoint that also shows those of Temporal's SDK."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from temporalio.runtime import PrometheusConfig, Runtime, TelemetryConfig

from adapter.errors import Unavailable
from adapter.telemetry.sdk_logs import sdk_logging

MOST_NEIGHBOURS = 64
"""So many workers may share a host; each takes the next free port."""

_QUICK = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SLOW = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_BUCKETS = {
    "coordinator_admission": _QUICK,
    "coordinator_http_request": _QUICK,
    "coordinator_call": _SLOW,
}


class Meters:
    """Counts and times what happens here; labels are names, classes and codes (docs/telemetry.md).

    ``deployment`` is a label of every metric.
    """

    def __init__(self, runtime: Runtime) -> None:
        meter = runtime.metric_meter
        self._admission = meter.create_histogram_timedelta(
            "coordinator_admission", "From the arrival of a request to its committed run"
        )
        self._request = meter.create_histogram_timedelta(
            "coordinator_http_request", "Requests by operation and status"
        )
        self._call = meter.create_histogram_timedelta(
            "coordinator_call", "Calls of products by operation, connection and class"
        )
        self._effects = meter.create_counter(
            "coordinator_effects", "Attempts by operation and the class that they ended with"
        )
        self._polls = meter.create_counter(
            "coordinator_polls", "Looks at a source by operation and what was found"
        )
        self._numbers = meter.create_gauge("coordinator_ledger", "What stands in the ledger")
        self._runs = meter.create_gauge("coordinator_runs", "Runs by state")
        self._pass = meter.create_gauge_float(
            "coordinator_reconciler_pass_age_seconds", "Since the last pass of the reconciler"
        )

    def admitted(self, seconds: float) -> None:
        """An admission is durable."""
        self._admission.record(timedelta(seconds=seconds))

    def request(self, operation: str, status: int, seconds: float) -> None:
        """A request was answered; ``operation`` is the route's id."""
        labels: dict[str, str | int] = {"operation": operation, "status": status}
        self._request.record(timedelta(seconds=seconds), labels)

    def call(self, operation: str, connection: str, kind: str, seconds: float) -> None:
        """A product was called; ``kind`` is the class of the reply."""
        labels = {"operation": operation, "connection": connection, "class": kind}
        self._call.record(timedelta(seconds=seconds), labels)

    def effect(self, operation: str, kind: str) -> None:
        """An attempt of an effect has ended."""
        self._effects.add(1, {"operation": operation, "class": kind})

    def poll(self, operation: str, found: str) -> None:
        """A source was looked at."""
        self._polls.add(1, {"operation": operation, "found": found})

    def stand(self, states: Mapping[str, int], numbers: Mapping[str, int]) -> None:
        """How the ledger stands: runs by state, and other numbers by name."""
        for state, count in states.items():
            self._runs.set(count, {"state": state})
        for name, count in numbers.items():
            self._numbers.set(count, {"what": name})

    def pass_age(self, seconds: float) -> None:
        """How long ago the reconciler made a pass."""
        self._pass.set(max(seconds, 0.0))


def open_endpoint(bind: str, deployment: str, neighbours: int) -> tuple[Runtime, str]:
    """Temporal's runtime with a metrics endpoint at ``bind``, or at one of the next ports.

    Gives the address that was taken. Raises Unavailable ``telemetry.bind-unusable`` when none of
    ``neighbours`` ports can be had.
    """
    host, _, first = bind.rpartition(":")
    for port in range(int(first), min(int(first) + neighbours, 65_536)):
        try:
            return _runtime(f"{host}:{port}", deployment), f"{host}:{port}"
        except ValueError:
            # The SDK has one error for a port that is taken and for an address that is none.
            continue
    raise Unavailable(
        "telemetry.bind-unusable",
        "metrics can not be shown at this address",
        place="/telemetry/metrics",
        remedy="name a numeric address of this host and a port that is free",
    )


def _runtime(address: str, deployment: str) -> Runtime:
    metrics = PrometheusConfig(
        bind_address=address,
        counters_total_suffix=True,
        unit_suffix=True,
        durations_as_seconds=True,
        histogram_bucket_overrides=_BUCKETS,
    )
    tags = {"deployment": deployment}
    return Runtime(
        telemetry=TelemetryConfig(
            logging=sdk_logging(), metrics=metrics, attach_service_name=False, global_tags=tags
        )
    )
