"""The deployment's logical connections as calls see them: settings, and a credential per call."""

from __future__ import annotations

from collections.abc import Mapping

from activities.errors import ConnectionFault
from adapter.config.document import BearerAuthorization, Connection
from adapter.config.secrets import SecretStore
from adapter.errors import Unavailable
from interpreter.contract.values import JsonValue

_NOT_FOR_CALLS = ("authorization", "dispatch", "taskQueue")


class ConfiguredConnections:
    """Implements `activities.ports.Connections` over runtime.yaml and the secret store."""

    def __init__(self, connections: Mapping[str, Connection], secrets: SecretStore) -> None:
        self._connections = connections
        self._secrets = secrets

    def settings(self, connection: str) -> JsonValue:
        """``{product, baseUrl, …}`` as authored, without authorization and routing."""
        written = self._named(connection).to_json()
        return {key: value for key, value in written.items() if key not in _NOT_FOR_CALLS}

    async def authorization(self, connection: str) -> str | None:
        """``Bearer TOKEN`` with the token as it is now, or None for an anonymous connection.

        Raises ConnectionFault ``connection.credential`` when the token can not be had: that is
        definitely before sending.
        """
        authorization = self._named(connection).authorization
        if not isinstance(authorization, BearerAuthorization):
            return None
        try:
            return f"Bearer {self._secrets.text(authorization.token_ref)}"
        except Unavailable as error:
            raise ConnectionFault(
                "connection.credential",
                "the credential of the connection can not be had",
                place=connection,
                remedy=error.remedy,
            ) from error

    def _named(self, connection: str) -> Connection:
        try:
            return self._connections[connection]
        except KeyError:
            raise ConnectionFault(
                "connection.unknown",
                "the deployment has no such connection",
                place=connection,
                remedy="add it to connections in runtime.yaml",
            ) from None
