"""What one process tells about itself, put together; without parts it tells nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from temporalio.client import Interceptor
    from temporalio.runtime import Runtime

    from activities.products.watching import CallWatch
    from adapter.telemetry.meters import Meters
    from adapter.telemetry.spans import Spans


@dataclass(frozen=True, slots=True)
class Telemetry:
    """The parts that a process has: ``runtime`` and ``interceptors`` are for its Temporal client.

    Nothing is imported for a part that is absent.
    """

    meters: Meters | None = None
    spans: Spans | None = None
    runtime: Runtime | None = None

    @property
    def interceptors(self) -> Sequence[Interceptor]:
        """What the client is made with; its workers use them too."""
        if self.meters is None and self.spans is None:
            return ()
        from adapter.telemetry.interceptors import EffectCounts, Tracing

        tracing = () if self.spans is None else (Tracing(self.spans),)
        return tracing if self.meters is None else (*tracing, EffectCounts(self.meters))

    @property
    def calls(self) -> CallWatch | None:
        """Who looks on at calls of products."""
        if self.meters is None and self.spans is None:
            return None
        from adapter.telemetry.calls import WatchedCalls

        return WatchedCalls(self.meters, self.spans)

    def around(self, app: Any) -> Any:
        """The ASGI application, looked on at."""
        if self.meters is None and self.spans is None:
            return app
        from adapter.telemetry.requests import WatchedRequests

        return WatchedRequests(app, self.meters, self.spans)

    def admitted(self) -> None:
        """The present request has led to a run that is committed."""
        if self.meters is not None:
            from adapter.telemetry.requests import admission_seconds

            self.meters.admitted(admission_seconds())


SILENT = Telemetry()
"""The telemetry of a process that tells nothing."""
