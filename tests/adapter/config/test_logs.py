"""Tests that a log says which error it was, and never what its message quotes."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
import structlog
from temporalio.runtime import LoggingFormat

from adapter.config.logs import configure_logs
from adapter.errors import Refused
from adapter.telemetry.sdk_logs import sdk_logging


@pytest.fixture
def _restored() -> Iterator[None]:
    """Leaves the loggers as they were."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    hooks = (threading.excepthook, sys.unraisablehook)
    yield
    threading.excepthook, sys.unraisablehook = hooks
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.mark.usefixtures("_restored")
def test_an_error_is_logged_by_its_name_and_code(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs()
    for error in (RuntimeError("hunter2"), Refused("run.unknown", "hunter2")):
        try:
            raise error
        except Exception:
            logging.getLogger("somewhere").warning("failed", exc_info=sys.exc_info())
    first, second = map(json.loads, capsys.readouterr().err.splitlines())
    assert (first["event"], first["error"]) == ("failed", "RuntimeError")
    assert (second["error"], second["code"]) == ("Refused", "run.unknown")
    assert "hunter2" not in json.dumps([first, second])


@pytest.mark.usefixtures("_restored")
def test_an_error_as_an_argument_is_logged_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs()
    logging.getLogger("somewhere").warning("no connection: %s", ValueError("hunter2"))
    assert json.loads(capsys.readouterr().err)["event"] == "no connection: ValueError"


@pytest.mark.usefixtures("_restored")
async def test_a_task_that_nobody_awaits_is_logged_without_its_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logs()

    async def fail() -> None:
        raise ValueError("hunter2")

    task = asyncio.create_task(fail())
    await asyncio.wait([task])
    del task
    gc.collect()
    logged = json.loads(capsys.readouterr().err)
    assert (logged["event"], logged["error"]) == (
        "Task exception was never retrieved",
        "ValueError",
    )
    assert "hunter2" not in json.dumps(logged)


@pytest.mark.usefixtures("_restored")
def test_a_thread_that_fails_is_logged_by_the_name_of_its_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logs()

    def fail() -> None:
        raise ValueError("hunter2")

    thread = threading.Thread(target=fail, name="exporter")
    thread.start()
    thread.join()
    assert json.loads(capsys.readouterr().err)["event"] == "thread.failed: exporter by ValueError"


@pytest.fixture(params=["gone", "closed"])
def _lost(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process whose stderr nobody reads any more, or that was started without one."""
    if request.param == "closed":
        monkeypatch.setattr(sys, "stderr", None)
        yield
        return
    reading, writing = os.pipe()
    os.close(reading)
    stderr = os.fdopen(writing, "w")
    monkeypatch.setattr(sys, "stderr", stderr)
    yield
    with suppress(BrokenPipeError):
        stderr.close()


@pytest.mark.usefixtures("_restored", "_lost")
def test_a_log_that_nobody_takes_stops_nothing() -> None:
    configure_logs()
    for _ in range(2):
        structlog.get_logger("somewhere").warning("run.unrepaired", run="a")
        logging.getLogger("somewhere").warning("failed")


def test_the_sdk_logs_lines_of_json_in_a_process_without_stdout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert sdk_logging().format is LoggingFormat.JSON
