"""The deployment's logical connections as calls see them: settings, and who calls."""

from __future__ import annotations

from collections.abc import Mapping

from activities.credentials import (
    Anonymous,
    Authorization,
    BearerToken,
    ClientCredentials,
    ClientTls,
    CredentialUnavailable,
    ReadSecret,
    TaskAuthority,
    TaskBound,
)
from activities.errors import ConnectionFault
from adapter.config.document import Connection
from adapter.config.identities import (
    BearerAuthorization,
    ClientAuthorization,
    NoAuthorization,
    TaskAuthorityPart,
)
from adapter.config.secrets import SecretStore
from adapter.errors import Unavailable
from interpreter.contract.values import JsonValue

_NOT_FOR_CALLS = ("authorization", "observationAuthorization", "tls", "dispatch", "taskQueue")


class ConfiguredConnections:
    """Implements `activities.ports.Connections` over runtime.yaml and the secret store."""

    def __init__(self, connections: Mapping[str, Connection], secrets: SecretStore) -> None:
        self._connections = connections
        self._secrets = secrets

    def settings(self, connection: str) -> JsonValue:
        """``{product, baseUrl, …}`` as authored, without identity and routing."""
        written = self._named(connection).to_json()
        return {key: value for key, value in written.items() if key not in _NOT_FOR_CALLS}

    def authorization(self, connection: str, *, observing: bool = False) -> Authorization:
        """How calls are authorised, or with ``observing`` the reading of their receipts.

        No secret is read yet. Raises ConnectionFault ``connection.unknown``.
        """
        named = self._named(connection)
        other = named.observation_authorization if observing else None
        written = named.authorization if other is None else other
        if isinstance(written, NoAuthorization):
            return Anonymous(takes_grants=written.grants is not None)
        if isinstance(written, BearerAuthorization):
            return BearerToken(connection, self._reading(written.token_ref))
        if isinstance(written, ClientAuthorization):
            return self._client(connection, written)
        return Anonymous(public=True)

    async def tls(self, connection: str) -> ClientTls | None:
        """The certificates as they are now; CredentialUnavailable when one can not be read."""
        written = self._named(connection).tls
        if written is None:
            return None
        references = (written.certificate_ref, written.key_ref, written.ca_ref)
        try:
            texts = [None if one is None else await self._secrets.fetch(one) for one in references]
        except Unavailable as error:
            raise CredentialUnavailable(
                "connection.credential",
                "a certificate of the connection can not be read",
                place=connection,
                remedy=error.remedy,
            ) from error
        return ClientTls(*texts)

    async def rehearse(self) -> list[ConnectionFault]:
        """What keeps connections from calling, as far as their own secrets tell; asks nobody."""
        found: list[ConnectionFault] = []
        for name in self._connections:
            try:
                await self.authorization(name).rehearse()
                await self.authorization(name, observing=True).rehearse()
                tls = await self.tls(name)
                if tls is not None:
                    tls.context(name)
            except ConnectionFault as fault:
                found.append(fault)
        return found

    def _client(self, connection: str, written: ClientAuthorization) -> Authorization:
        client = ClientCredentials(
            connection=connection,
            endpoint=written.token_endpoint,
            client_id=written.client_id,
            resource=written.resource,
            scopes=tuple(written.scopes),
            read_key=self._reading(written.signing_key_ref),
            audience=written.client_assertion_audience,
        )
        authority = written.task_authority
        return client if authority is None else TaskBound(client, _authority(authority))

    def _reading(self, reference: str) -> ReadSecret:
        return lambda: self._secrets.fetch(reference)

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


def _authority(written: TaskAuthorityPart) -> TaskAuthority:
    return TaskAuthority(
        base_url=written.base_url,
        issuer=written.issuer,
        subject=written.subject,
        exchange_audience=written.exchange_audience,
        bootstrap_resource=written.bootstrap_resource,
    )
