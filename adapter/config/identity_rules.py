"""Rules of a connection's identity that need more than one key (contract 1.4)."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from adapter.config.document import Connection, RuntimeDocument, is_loopback
from adapter.config.findings import Finding, pointer
from adapter.config.identities import (
    ClientAuthorization,
    NoAuthorization,
    PublicAuthorization,
)
from adapter.config.outgoing import outgoing

_FOR_TASKS = ("breg", "scheduling")


def broken_identities(document: RuntimeDocument) -> Iterator[Finding]:
    """What is wrong with who calls, and with where its credentials come from and go."""
    for name, connection in document.connections.items():
        at = ["connections", name]
        yield from _addresses(connection, at)
        yield from _nobody(connection, at)
        yield from _tasks(connection, at)
        yield from _observation(connection, at)


def _addresses(connection: Connection, at: list[str]) -> Iterator[Finding]:
    yield from outgoing(connection.base_url, [*at, "baseUrl"])
    written = {
        "authorization": connection.authorization,
        "observationAuthorization": connection.observation_authorization,
    }
    for key, one in written.items():
        if isinstance(one, ClientAuthorization):
            yield from outgoing(one.token_endpoint, [*at, key, "tokenEndpoint"])
            if one.task_authority is not None:
                place = [*at, key, "taskAuthority", "baseUrl"]
                yield from outgoing(one.task_authority.base_url, place)


def _nobody(connection: Connection, at: list[str]) -> Iterator[Finding]:
    kind = connection.authorization
    if isinstance(kind, PublicAuthorization) and connection.product != "external":
        yield Finding(
            "config.identity",
            pointer([*at, "authorization"]),
            "only an external service is called by nobody in particular",
            "give the connection an identity of its own",
        )
    certified = connection.tls is not None and connection.tls.certificate_ref is not None
    beyond = not is_loopback(connection.base_url)
    if isinstance(kind, NoAuthorization) and beyond and not certified:
        yield Finding(
            "config.identity",
            pointer(at),
            "without an identity a connection may lead to a numeric loopback address only",
            "add an authorization or a client certificate; `type: anonymous` for a public service",
        )
    if connection.tls is not None and urlsplit(connection.base_url).scheme == "http":
        yield Finding(
            "config.identity",
            pointer([*at, "tls"]),
            "certificates are of no use without TLS",
            "use https, or remove tls",
        )


def _tasks(connection: Connection, at: list[str]) -> Iterator[Finding]:
    bound = _is_bound_to_tasks(connection)
    if bound and connection.product not in _FOR_TASKS:
        yield Finding(
            "config.identity",
            pointer([*at, "authorization", "taskAuthority"]),
            f"this product does nothing for tasks; {' and '.join(_FOR_TASKS)} do",
            "remove it",
        )
    needed = bound and connection.product == "scheduling"
    present = connection.observation_authorization is not None
    if needed and not present:
        yield Finding(
            "config.missing-key",
            pointer([*at, "observationAuthorization"]),
            "a task-bound connection of scheduling reads receipts under a standing identity",
            "add observationAuthorization, with the same client, endpoint and resource",
        )
    if present and not needed:
        yield Finding(
            "config.unknown-key",
            pointer([*at, "observationAuthorization"]),
            "only a task-bound connection of scheduling has this",
            "remove it",
        )


def _observation(connection: Connection, at: list[str]) -> Iterator[Finding]:
    main, other = connection.authorization, connection.observation_authorization
    if other is None or not isinstance(main, ClientAuthorization):
        return
    place = [*at, "observationAuthorization"]
    if other.task_authority is not None:
        message = "receipts are read under the standing identity"
        yield Finding(
            "config.unknown-key", pointer([*place, "taskAuthority"]), message, "remove it"
        )
    facts = {
        "tokenEndpoint": main.token_endpoint == other.token_endpoint,
        "clientId": main.client_id == other.client_id,
        "resource": main.resource == other.resource,
    }
    for key, same in facts.items():
        if not same:
            yield Finding(
                "config.identity",
                pointer([*place, key]),
                f"{key} differs from the main authorization",
                "use the same client, endpoint and resource",
            )


def _is_bound_to_tasks(connection: Connection) -> bool:
    kind = connection.authorization
    return isinstance(kind, ClientAuthorization) and kind.task_authority is not None
