"""The process that serves the HTTP API, from a runtime file to a listening socket."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import structlog
import uvicorn

from adapter.access import LiveAccess
from adapter.api import Service, create_app
from adapter.config.loading import Runtime
from adapter.config.location import setting
from adapter.ledger import Ledger
from adapter.listening import listen
from adapter.reconcile.acts import Courier
from adapter.reconcile.diagnosis import Norms
from adapter.reconcile.marks import Marks
from adapter.reconcile.outbox import keep_delivering
from adapter.reconcile.signals import SignalCourier
from adapter.reconcile.starts import PENDING_EVERY_SECONDS, Starter
from adapter.telemetry.process import Telemetry
from adapter.wiring.acts import LedgerDesk
from adapter.wiring.book import LedgerBook
from adapter.wiring.codec import codec_server
from adapter.wiring.connections import PromptConnection
from adapter.wiring.deployment import (
    TemporalServer,
    binding_of,
    journal_keys,
    journal_signing,
    open_ledger,
    schedule_of,
)
from adapter.wiring.documents import fetch_document
from adapter.wiring.event_sources import senders_of
from adapter.wiring.executions import TemporalExecutions
from adapter.wiring.oversight import DeploymentOversight
from adapter.wiring.sealing import codec_of
from adapter.wiring.signals import LedgerSignals
from adapter.wiring.telemetry import keep_counting, telemetry_of

_log = structlog.get_logger(__name__)
_LEAST_RETENTION = timedelta(days=3)
"""A weekend without a reconciler must not cost the history that it compares with."""

AFTER_ADMISSION = "after-admission-commit"


async def serve_api(runtime: Runtime, stop: asyncio.Event, *, recovery_only: bool = False) -> None:
    """Serve the HTTP API until ``stop``; with ``recovery_only`` nothing is admitted or started.

    Raises Unavailable ``api.bind-taken``, and what opening the ledger or telemetry raises.
    """
    signing = journal_keys(runtime)
    listener = _listen(runtime.document.api.bind)
    async with (
        telemetry_of(runtime, "service") as telemetry,
        open_ledger(runtime, recovery_only=recovery_only) as ledger,
    ):
        temporal = TemporalServer(runtime, codec_of(ledger), telemetry)
        access = LiveAccess(runtime, fetch_document)
        starter = Starter(ledger.admissions, temporal, runtime.document.temporal.task_queue)
        app = create_app(_service(runtime, ledger, temporal, starter, telemetry, access))
        # Nothing may outlive the patience of whoever stops us; a request is short.
        config = uvicorn.Config(
            telemetry.around(app),
            http=PromptConnection,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            lifespan="off",
            timeout_graceful_shutdown=5,
        )
        server = _Server(config)
        _log.info("service.listening", address=runtime.document.api.bind)
        async with asyncio.TaskGroup() as group:
            group.create_task(_stop_with(server, stop))
            group.create_task(keep_delivering(stop, *journal_signing(ledger, signing)))
            group.create_task(access.keep_fresh(stop))
            group.create_task(keep_counting(telemetry, ledger.census, stop))
            if not recovery_only:
                group.create_task(
                    keep_delivering(stop, starter.finish_pending, every=PENDING_EVERY_SECONDS)
                )
            await server.serve([listener])
            stop.set()


class _Server(uvicorn.Server):
    """uvicorn without handlers of its own: signals set the program's `stop`."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield


async def _stop_with(server: uvicorn.Server, stop: asyncio.Event) -> None:
    await stop.wait()
    server.should_exit = True


def _service(
    runtime: Runtime,
    ledger: Ledger,
    temporal: TemporalServer,
    starter: Starter,
    telemetry: Telemetry,
    access: LiveAccess,
) -> Service:
    senders = senders_of(runtime)
    return Service(
        book=LedgerBook(ledger, binding_of(runtime)),
        executions=TemporalExecutions(ledger, temporal, starter),
        acts=LedgerDesk(ledger, Courier(ledger, temporal)),
        signals=LedgerSignals(ledger, SignalCourier(ledger, temporal)),
        codec=codec_server(runtime, ledger, temporal.codec),
        oversight=_oversight(runtime, ledger, temporal, access),
        access=access,
        completions=senders.completions,
        event_sources=senders.sources,
        after_commit=_after_commit(telemetry, _fault_point(runtime)),
    )


def _oversight(
    runtime: Runtime, ledger: Ledger, temporal: TemporalServer, access: LiveAccess
) -> DeploymentOversight:
    schedule = schedule_of(runtime)
    production = runtime.document.mode == "production"
    least = _LEAST_RETENTION if production else timedelta(days=1)
    norms = Norms(schedule.every, least, signs=runtime.document.audit is not None)
    queue, marks = runtime.document.temporal.task_queue, Marks(ledger, schedule)
    return DeploymentOversight(marks, temporal, norms, queue, access.troubles)


def _after_commit(telemetry: Telemetry, fault_point: Callable[[], None]) -> Callable[[], None]:
    def committed() -> None:
        telemetry.admitted()
        fault_point()

    return committed


def _fault_point(runtime: Runtime) -> Callable[[], None]:
    """What happens between an admission and its start: nothing, or a death that a test asks for."""
    if runtime.document.mode == "development" and setting("FAULT") == AFTER_ADMISSION:
        return lambda: os.kill(os.getpid(), signal.SIGKILL)
    return lambda: None


def _listen(bind: str) -> socket.socket:
    host, _, port = bind.rpartition(":")
    return listen(host.strip("[]"), int(port), code="api.bind-taken", place="/api/bind")
