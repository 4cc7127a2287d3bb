"""How the native part of Temporal's SDK logs: JSON lines like ours, unless on a terminal."""

from __future__ import annotations

import sys
from typing import TextIO

from temporalio.runtime import LoggingConfig, LoggingFormat, Runtime, TelemetryConfig


def sdk_logging() -> LoggingConfig:
    """Its warnings, to stdout; without this they are coloured lines that no collector reads."""
    stdout: TextIO | None = sys.stdout
    form = None if stdout is not None and stdout.isatty() else LoggingFormat.JSON
    return LoggingConfig(filter=LoggingConfig.default.filter, format=form)


def logging_runtime() -> Runtime:
    """Temporal's runtime that does nothing else of its own."""
    return Runtime(telemetry=TelemetryConfig(logging=sdk_logging()))
