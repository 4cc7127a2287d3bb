"""Connections of a deployment, as plain values, for tests of what calls through them."""

from __future__ import annotations

from collections.abc import Mapping

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
        self.asked = 0

    def settings(self, connection: str) -> JsonValue:
        """The settings as given."""
        if connection not in self.connections:
            raise ConnectionFault("connection.unknown", "no such connection", place=connection)
        return self.connections[connection]

    async def authorization(self, connection: str) -> str | None:
        """The bearer, or the fault."""
        self.asked += 1
        if self.fault is not None:
            raise self.fault
        return self.bearer
