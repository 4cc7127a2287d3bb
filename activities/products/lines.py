"""An open connection: its settings, its transport, and a credential for every attempt."""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from ipaddress import ip_address

from activities.catalogue.schemas import Check, compile_check
from activities.credentials import (
    Attempt,
    Authorization,
    ClientTls,
    CredentialRefused,
    CredentialUnavailable,
    CredentialUnusable,
    Grant,
    PostAnswer,
    Secret,
    trusting,
)
from activities.destinations import destination_of
from activities.errors import ConnectionFault
from activities.ports import Connections
from activities.products.breaker import Breaker
from activities.products.endpoints import Endpoints, out_of_time
from activities.products.settings import ConnectionSettings, read_settings
from activities.products.transport import Failure, HttpAnswer, HttpRequest, Transport
from interpreter.contract.values import JsonValue

# Visible ASCII with single blanks inside: anything else would break the request apart.
_HEADER_VALUE = re.compile(r"[!-~]+( [!-~]+)*")
_CREDENTIAL_FAULTS = (CredentialUnavailable, CredentialRefused, CredentialUnusable)


class Line:
    """One connection as its settings and certificates stand; a changed one opens another line.

    ``trust`` is asked when a TLS connection opens; ``proves_itself`` says whether a certificate
    tells the product who calls.
    """

    def __init__(
        self,
        name: str,
        settings: ConnectionSettings,
        trust: Callable[[], ssl.SSLContext],
        breaker: Breaker,
        *,
        proves_itself: bool = False,
    ) -> None:
        self.name = name
        self.settings = settings
        destination = destination_of(settings.base_url, name)
        self._loopback = _is_loopback(destination.host)
        self._proves_itself = proves_itself
        self._transport = Transport(
            destination, trust() if destination.secure else None, confirmed=proves_itself
        )
        self._endpoints = Endpoints(name, trust)
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

    def require_identity(self, authorization: Authorization) -> None:
        """ConnectionFault ``connection.identity`` for calls of nobody beyond this machine."""
        if authorization.loopback_only and not (self._loopback or self._proves_itself):
            raise ConnectionFault(
                "connection.identity",
                "the connection has no identity of its own",
                place=self.name,
                remedy="give it an authorization or a client certificate in runtime.yaml",
            )

    async def credential(
        self, authorization: Authorization, grant: Grant | None, deadline: float
    ) -> Secret | None:
        """A fresh ``Authorization`` header, had before ``deadline`` (monotonic).

        Raises CredentialUnavailable, CredentialRefused or CredentialUnusable.
        """
        attempt = Attempt(partial(self._post, deadline), grant)
        try:
            async with asyncio.timeout(deadline - time.monotonic()):
                header = await authorization.header(attempt)
        except _CREDENTIAL_FAULTS:
            raise
        except (ConnectionFault, TimeoutError) as error:
            raise out_of_time(self.name) from error
        if header is not None and not _HEADER_VALUE.fullmatch(header.reveal()):
            raise out_of_time(self.name)
        return header

    def fits_response(self, output: JsonValue) -> str | None:
        """Check against the connection's own response schema (external connections)."""
        if self._response_check is None:
            self._response_check = compile_check(self.settings.response_schema)
        return self._response_check(output)

    async def aclose(self) -> None:
        """Close idle connections."""
        await self._transport.aclose()
        await self._endpoints.aclose()

    async def _post(
        self, deadline: float, url: str, body: bytes, headers: tuple[tuple[str, str], ...]
    ) -> PostAnswer | None:
        return await self._endpoints.post(url, body, headers, deadline - time.monotonic())


class Lines:
    """Every connection in use, opened at its first call."""

    def __init__(
        self, connections: Connections, breaker: Breaker, trust: ssl.SSLContext | None
    ) -> None:
        self._connections = connections
        self._breaker = breaker
        self._trust = trust
        self._open: dict[str, tuple[JsonValue, ClientTls | None, Line]] = {}

    async def line(self, connection: str, deadline: float) -> Line:
        """The line of a connection, with the certificates that it has now, before ``deadline``.

        Raises ConnectionFault or DestinationRefused if there can be none, and the faults of
        credentials for a certificate that can not be had.
        """
        authored = self._connections.settings(connection)
        known = self._open.get(connection)
        settings = known[2].settings if known and known[0] == authored else None
        if settings is None:
            settings = read_settings(authored, connection)
            destination_of(settings.base_url, connection)
        try:
            async with asyncio.timeout(deadline - time.monotonic()):
                tls = await self._connections.tls(connection)
        except TimeoutError as error:
            raise out_of_time(connection) from error
        known = self._open.get(connection)
        if known is not None and known[:2] == (authored, tls):
            return known[2]
        proves_itself = tls is not None and tls.certificate is not None
        trust = partial(self._trusted, connection, tls)
        line = Line(connection, settings, trust, self._breaker, proves_itself=proves_itself)
        self._open[connection] = (authored, tls, line)
        if known is not None:
            await known[2].aclose()
        return line

    def authorization(self, connection: str, *, observing: bool) -> Authorization:
        """How a connection authorises calls, or the reading of their receipts."""
        return self._connections.authorization(connection, observing=observing)

    def _trusted(self, connection: str, tls: ClientTls | None) -> ssl.SSLContext:
        if tls is not None:
            return tls.context(connection)
        # Reading the system's certificates takes tens of milliseconds: once, and only for TLS.
        if self._trust is None:
            self._trust = trusting()
        return self._trust

    async def aclose(self) -> None:
        """Close every idle connection."""
        for _, _, line in self._open.values():
            await line.aclose()


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
