"""Connections of the service: requests begin in time, and what is none is refused as usual."""

from __future__ import annotations

import asyncio
from typing import Final, cast

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from adapter.api import malformed_request

HEAD_SECONDS: Final = 30.0
"""How long a connection may take to send the head of its next request."""


class PromptConnection(H11Protocol):
    """One connection; whoever opens many and says nothing, or little, does not keep them.

    uvicorn itself waits for the head of a request for good, and answers what is no HTTP without
    the headers that every answer has.
    """

    _due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Called by the loop."""
        super().connection_made(transport)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the loop."""
        self._forget()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Look at what has come; a head that is whole is waited for no longer."""
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._forget()

    def on_response_complete(self) -> None:
        """The next request may begin, if it has not come already."""
        before = self.cycle
        super().on_response_complete()
        if self.cycle is before and not self.transport.is_closing():
            self._watch()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP as everything else is refused, unless an answer has begun."""
        # There is none before the first request, whatever the type says.
        cycle = cast("RequestResponseCycle | None", self.cycle)
        if cycle is None or cycle.response_complete or not cycle.response_started:
            answer = malformed_request()
            lines = [b"HTTP/1.1 400 Bad Request"]
            lines += [name + b": " + value for name, value in answer.raw_headers]
            self.transport.write(b"\r\n".join((*lines, b"", bytes(answer.body))))
        self.transport.close()

    def _watch(self) -> None:
        self._forget()
        self._due = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _forget(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
