"""An open connection: its settings, its transport, and a credential for every attempt."""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import Callable
from dataclasses import replace

from activities.catalogue.schemas import Check, compile_check
from activities.credentials import CredentialRefused, CredentialUnavailable, Secret
from activities.errors import ConnectionFault
from activities.ports import Connections
from activities.products.breaker import Breaker
from activities.products.destinations import destination_of
from activities.products.settings import ConnectionSettings, read_settings
from activities.products.transport import Failure, HttpAnswer, HttpRequest, Transport
from interpreter.contract.values import JsonValue

# Visible ASCII with single blanks inside: anything else would break the request apart.
_HEADER_VALUE = re.compile(r"[!-~]+( [!-~]+)*")


class Line:
    """One connection as its settings stand; a changed setting opens another line."""

    def __init__(
        self,
        name: str,
        settings: ConnectionSettings,
        trust: Callable[[], ssl.SSLContext],
        breaker: Breaker,
    ) -> None:
        self.name = name
        self.settings = settings
        destination = destination_of(settings.base_url, name)
        self._transport = Transport(destination, trust() if destination.secure else None)
        self._breaker = breaker
        self._response_check: Check | None = None

    async def exchange(
        self,
        request: HttpRequest,
        credential: Secret | None,
        seconds: float,
        maximum_bytes: int,
    ) -> HttpAnswer | Failure:
        """Send once, with the credential, and tell the breaker how it went."""
        if seconds <= 0:
            return Failure.NOT_SENT
        if credential is not None:
            header = ("Authorization", credential.reveal())
            request = replace(request, headers=(*request.headers, header))
        begun = time.monotonic()
        answer = await self._transport.exchange(
            request, seconds, min(maximum_bytes, self.settings.maximum_response_bytes)
        )
        answered = isinstance(answer, HttpAnswer) and answer.status < 500
        self._breaker.record(self.name, time.monotonic() - begun, answered=answered)
        return answer

    def fits_response(self, output: JsonValue) -> str | None:
        """Check against the connection's own response schema (external connections)."""
        if self._response_check is None:
            self._response_check = compile_check(self.settings.response_schema)
        return self._response_check(output)

    async def aclose(self) -> None:
        """Close idle connections."""
        await self._transport.aclose()


class Lines:
    """Every connection in use, opened at its first call."""

    def __init__(
        self, connections: Connections, breaker: Breaker, trust: ssl.SSLContext | None
    ) -> None:
        self._connections = connections
        self._breaker = breaker
        self._trust = trust
        self._open: dict[str, tuple[JsonValue, Line]] = {}
        self._replaced: list[Line] = []

    def line(self, connection: str) -> Line:
        """The line of a connection; ConnectionFault or DestinationRefused if there can be none."""
        authored = self._connections.settings(connection)
        known = self._open.get(connection)
        if known is not None and known[0] == authored:
            return known[1]
        settings = read_settings(authored, connection)
        line = Line(connection, settings, self._trusted, self._breaker)
        if known is not None:
            self._replaced.append(known[1])
        self._open[connection] = (authored, line)
        return line

    def _trusted(self) -> ssl.SSLContext:
        # Reading the system's certificates takes tens of milliseconds: once, and only for TLS.
        if self._trust is None:
            self._trust = ssl.create_default_context()
        return self._trust

    async def credential(self, connection: str, seconds: float) -> Secret | None:
        """A fresh credential; CredentialUnavailable or CredentialRefused, within ``seconds``."""
        try:
            async with asyncio.timeout(seconds):
                header = await self._connections.authorization(connection)
        except (CredentialUnavailable, CredentialRefused):
            raise
        except (ConnectionFault, TimeoutError) as error:
            raise _unavailable(connection) from error
        if header is not None and not _HEADER_VALUE.fullmatch(header):
            raise _unavailable(connection)
        return None if header is None else Secret(header)

    async def aclose(self) -> None:
        """Close every idle connection."""
        for line in (*self._replaced, *(line for _, line in self._open.values())):
            await line.aclose()


def _unavailable(connection: str) -> CredentialUnavailable:
    return CredentialUnavailable(
        "connection.credential",
        "the credential of the connection can not be had",
        place=connection,
        remedy="check the connection's authorization in runtime.yaml",
    )
