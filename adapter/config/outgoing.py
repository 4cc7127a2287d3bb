"""The rule of every address that a deployment calls: encrypted beyond loopback, and no metadata."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from activities.destinations import DestinationRefused, destination_of
from activities.errors import ConnectionFault
from adapter.config.document import is_loopback
from adapter.config.findings import Finding, pointer


def outgoing(address: str, at: list[str]) -> Iterator[Finding]:
    """What is wrong with a base address that stands at a place of the file."""
    if address.startswith("http://") and not is_loopback(address):
        message = "plain http is allowed on a numeric loopback address only"
        yield Finding("config.plain-http", pointer([*at]), message, "use https")
        return
    try:
        destination_of(address, "")
    except DestinationRefused:
        yield Finding(
            "config.forbidden-address",
            pointer([*at]),
            "nobody lives at this address: metadata, link-local, multicast or none",
            "name the address that is meant",
        )
    except ConnectionFault as error:
        yield Finding("config.invalid-value", pointer([*at]), error.message, error.remedy)


def outgoing_document(address: str, at: list[str]) -> Iterator[Finding]:
    """The same for a document, whose path and query may be anything."""
    parts = urlsplit(address)
    yield from outgoing(f"{parts.scheme}://{parts.netloc}", at)
