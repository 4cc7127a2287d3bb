"""How this project's programs log: one JSON line, or one readable line, per event, to stderr."""

from __future__ import annotations

import io
import logging
import sys
import threading
from contextlib import suppress
from typing import Any, TextIO, cast

import structlog

from interpreter.errors import CoordinatorError


def configure_logs() -> None:
    """Send structlog and the standard library's loggers to stderr in one form.

    It is readable on a terminal. What stderr does not take is lost, and nothing stops for it.
    """
    stderr: TextIO | None = sys.stderr
    readable = stderr is not None and stderr.isatty()
    taken = cast("TextIO", _Taken(stderr))
    stamp = structlog.processors.TimeStamper(fmt="iso", utc=True)
    shared: list[structlog.types.Processor] = [structlog.stdlib.add_log_level, stamp]
    last: structlog.types.Processor = (
        structlog.dev.ConsoleRenderer(colors=True)
        if readable
        else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[*shared, last],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(taken),
        cache_logger_on_first_use=True,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*shared, _error_by_name],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last],
    )
    handler = logging.StreamHandler(taken)
    handler.setFormatter(formatter)
    handler.addFilter(_without_values)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    # One line per request of a server is the access log's work, not the program's.
    for noisy in ("httpx", "httpcore", "uvicorn.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    threading.excepthook = _thread_failed
    sys.unraisablehook = _unraisable


class _Taken(io.TextIOBase):
    """A stream that takes whatever it is given, whether or not anybody still reads it."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        if self._stream is not None:
            with suppress(OSError):
                self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        if self._stream is not None:
            with suppress(OSError):
                self._stream.flush()


def _without_values(record: logging.LogRecord) -> bool:
    """Take out what libraries write of errors: an error as an argument, or asyncio's many lines.

    The event loop shows futures with the errors in them below its first line.
    """
    if isinstance(record.args, tuple):
        record.args = tuple(
            type(one).__qualname__ if isinstance(one, BaseException) else one for one in record.args
        )
    if record.name == "asyncio" and isinstance(record.msg, str):
        record.msg = record.msg.partition("\n")[0]
    return True


def _thread_failed(failed: threading.ExceptHookArgs) -> None:
    name = failed.thread.name if failed.thread else ""
    logging.getLogger(__name__).error("thread.failed: %s by %s", name, failed.exc_type.__qualname__)


def _unraisable(ignored: Any) -> None:
    kind = type(ignored.exc_value).__qualname__
    logging.getLogger(__name__).error("error.ignored: %s", kind)


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
