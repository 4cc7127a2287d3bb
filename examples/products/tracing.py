"""The trace of one request, as the ``traceparent`` header (W3C Trace Context) carries it."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

from starlette.requests import HTTPConnection

_TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace id (32 hex) and the id of the product's own span (16 hex)."""

    trace_id: str
    span_id: str

    @classmethod
    def begin(cls, received: str | None) -> Trace:
        """Continue the caller's trace when its header is well formed, else start a new one."""
        match = _TRACEPARENT.fullmatch(received or "")
        trace_id = match[1] if match and match[1] != "0" * 32 else secrets.token_hex(16)
        return cls(trace_id, secrets.token_hex(8))

    @property
    def header(self) -> str:
        """The value of the answer's ``traceparent``."""
        return f"00-{self.trace_id}-{self.span_id}-01"


def trace_of(connection: HTTPConnection) -> Trace:
    """The trace that the outermost layer began for this request."""
    trace: Trace = connection.state.trace
    return trace
