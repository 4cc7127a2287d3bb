"""A process's telemetry from the runtime file, and the numbers that its ledger shows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal

import structlog

from activities.errors import LedgerUnavailable
from adapter.config.loading import Runtime
from adapter.ledger.census import Census, Counted
from adapter.telemetry.process import Telemetry
from adapter.telemetry.sdk_logs import logging_runtime
from interpreter.contract.records import RunState

if TYPE_CHECKING:
    from adapter.telemetry.meters import Meters
    from adapter.telemetry.spans import Spans

_log = structlog.get_logger(__name__)
_COUNT_SECONDS = 15.0

Kind = Literal["service", "worker"]


@asynccontextmanager
async def telemetry_of(runtime: Runtime, kind: Kind) -> AsyncIterator[Telemetry]:
    """What this process shall tell; what is left is exported at the end.

    Raises Unavailable ``telemetry.bind-unusable``, ``telemetry.file-unusable`` or ``secret.*``.
    """
    wanted = runtime.document.telemetry
    endpoint = wanted.metrics.service if kind == "service" else wanted.metrics.worker
    spans = _spans(runtime, kind)
    try:
        if endpoint is None:
            yield Telemetry(spans=spans, runtime=logging_runtime())
        else:
            yield _with_metrics(endpoint.bind, runtime.document.deployment, kind, spans)
    finally:
        if spans is not None:
            # Sending what is left may take seconds: this process still has others to stop.
            await asyncio.to_thread(spans.close)


def _with_metrics(bind: str, deployment: str, kind: Kind, spans: Spans | None) -> Telemetry:
    from adapter.telemetry.meters import MOST_NEIGHBOURS, Meters, open_endpoint

    neighbours = MOST_NEIGHBOURS if kind == "worker" else 1
    shown, address = open_endpoint(bind, deployment, neighbours)
    _log.info("metrics.listening", address=address)
    return Telemetry(Meters(shown), spans, shown)


def _spans(runtime: Runtime, kind: Kind) -> Spans | None:
    wanted = runtime.document.telemetry.traces
    if wanted is None:
        return None
    from adapter.telemetry.spans import Spans

    deployment = runtime.document.deployment
    labels = {"service.name": f"coordinator-{kind}", "coordinator.deployment": deployment}
    if wanted.file is not None:
        return Spans.to_file(runtime.folder / wanted.file, labels)
    reference = wanted.authorization_ref
    authorization = None if reference is None else runtime.secrets.secret(reference).reveal()
    return Spans.to_collector(wanted.endpoint or "", authorization, labels)


async def keep_counting(telemetry: Telemetry, census: Census, stop: asyncio.Event) -> None:
    """Show how the ledger stands, every 15 seconds until ``stop``; without metrics, nothing."""
    while telemetry.meters is not None and not stop.is_set():
        try:
            _show(telemetry.meters, await census.count())
        except LedgerUnavailable as error:
            _log.warning("metrics.uncounted", code=error.code)
        try:
            await asyncio.wait_for(stop.wait(), _COUNT_SECONDS)
        except TimeoutError:
            continue


def _show(meters: Meters, counted: Counted) -> None:
    states = {state.value: counted.states.get(state.value, 0) for state in RunState}
    numbers = {
        "unknown-effects": counted.uncertain,
        "undelivered-starts": counted.pending_starts,
        "undelivered-acts": counted.open_acts,
        "undelivered-signals": counted.open_signals,
        "undelivered-hints": counted.open_hints,
        "failed-starts": counted.failed_starts,
        "runs-under-review": counted.reviews,
        "restore-hold": int(counted.restore_hold),
        "admission-hold": int(counted.admissions_hold),
    }
    meters.stand(states, numbers)
    if counted.passed_at is not None:
        meters.pass_age((counted.now - counted.passed_at).total_seconds())
