"""Tests that a log says which error it was, and never what its message quotes."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator

import pytest
import structlog

from adapter.config.logs import configure_logs
from adapter.errors import Refused


@pytest.fixture
def _restored() -> Iterator[None]:
    """Leaves the loggers as they were."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.mark.usefixtures("_restored")
def test_an_error_is_logged_by_its_name_and_code(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs(readable=False)
    for error in (RuntimeError("hunter2"), Refused("run.unknown", "hunter2")):
        try:
            raise error
        except Exception:
            logging.getLogger("somewhere").warning("failed", exc_info=sys.exc_info())
    first, second = map(json.loads, capsys.readouterr().err.splitlines())
    assert (first["event"], first["error"]) == ("failed", "RuntimeError")
    assert (second["error"], second["code"]) == ("Refused", "run.unknown")
    assert "hunter2" not in json.dumps([first, second])
