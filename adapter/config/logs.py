"""How this project's programs log: one JSON line, or one readable line, per event, to stderr."""

from __future__ import annotations

import logging
import sys

import structlog

from interpreter.errors import CoordinatorError


def configure_logs(*, readable: bool) -> None:
    """Send structlog and the standard library's loggers to stderr in one form."""
    stamp = structlog.processors.TimeStamper(fmt="iso", utc=True)
    shared: list[structlog.types.Processor] = [structlog.stdlib.add_log_level, stamp]
    last: structlog.types.Processor = (
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
        if readable
        else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[*shared, last],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*shared, _error_by_name],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    # One line per request of a server is the access log's work, not the program's.
    for noisy in ("httpx", "httpcore", "uvicorn.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _error_by_name(
    _logger: object, _method: str, event: structlog.types.EventDict
) -> structlog.types.EventDict:
    """Say which error it was; a traceback or a foreign message may hold a value."""
    caught = event.pop("exc_info", None)
    error = caught[1] if isinstance(caught, tuple) else None
    if error is not None:
        event["error"] = type(error).__qualname__
        if isinstance(error, CoordinatorError):
            event["code"] = error.code
    return event
