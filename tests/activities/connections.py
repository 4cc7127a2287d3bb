"""Connections of a deployment, as plain values, for tests of what calls through them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from activities.credentials import Attempt, Authorization, ClientTls, Secret
from activities.errors import ConnectionFault
from interpreter.contract.values import JsonValue


class FixedConnections:
    """Implements `activities.ports.Connections` over a mapping; ``fault`` replaces credentials."""

    def __init__(
        self, connections: Mapping[str, JsonValue], bearer: str | None = "Bearer pretend-products"
    ) -> None:
        self.connections = dict(connections)
        self.bearer = bearer
        self.fault: Exception | None = None
        self.delay = 0.0
        self.asked = 0
        self.others: dict[str, Authorization] = {}
        self.observers: dict[str, Authorization] = {}
        self.certificates: dict[str, ClientTls] = {}

    def settings(self, connection: str) -> JsonValue:
        """The settings as given."""
        if connection not in self.connections:
            raise ConnectionFault("connection.unknown", "no such connection", place=connection)
        return self.connections[connection]

    def authorization(self, connection: str, *, observing: bool = False) -> Authorization:
        """The bearer, or what a test has set for the connection."""
        if observing and connection in self.observers:
            return self.observers[connection]
        return self.others.get(connection, _Fixed(self))

    async def tls(self, connection: str) -> ClientTls | None:
        """What a test has set."""
        return self.certificates.get(connection)


class _Fixed:
    """The header of its connections, after their delay and unless they have a fault."""

    for_tasks: bool | None = False
    loopback_only = False

    def __init__(self, connections: FixedConnections) -> None:
        self._connections = connections

    async def header(self, _attempt: Attempt) -> Secret | None:
        """The bearer, or the fault."""
        self._connections.asked += 1
        if self._connections.delay:
            await asyncio.sleep(self._connections.delay)
        if self._connections.fault is not None:
            raise self._connections.fault
        bearer = self._connections.bearer
        return None if bearer is None else Secret(bearer)

    async def rehearse(self) -> None:
        """There is nothing to read."""
