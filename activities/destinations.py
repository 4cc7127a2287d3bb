"""Where a connection may lead: base addresses, and the network addresses behind their names."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from activities.errors import ConnectionFault

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# Instance metadata services outside the link-local ranges: AWS, Google and Scaleway over IPv6,
# Alibaba, Azure, Oracle.
_METADATA = frozenset(
    map(
        ipaddress.ip_address,
        (
            *("fd00:ec2::254", "fd20:ce::254", "fd00:42::42"),
            *("100.100.100.200", "168.63.129.16", "192.0.0.192"),
        ),
    )
)
_METADATA_NAMES = frozenset({"metadata", "metadata.google.internal", "instance-data"})
_UNPLAIN = re.compile(r"[^!-~]")
# Prefixes under which the last 32 bits are an IPv4 address: NAT64 (RFC 6052, RFC 8215) and the
# compatible spelling that nobody uses honestly any more.
_HOLDING_IPV4 = tuple(
    map(ipaddress.IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "::/96", "::ffff:0:0:0/96"))
)


class DestinationRefused(Exception):
    """The address may not be called: metadata, link-local, or cleartext beyond loopback."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A base address taken apart; ``prefix`` is its path without a closing slash."""

    secure: bool
    host: str
    port: int
    prefix: str

    @property
    def authority(self) -> str:
        """The value of the ``Host`` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.secure else 80) else f"{host}:{self.port}"


def destination_of(base_url: str, connection: str) -> Destination:
    """Take a base address apart.

    It is https, or http on a numeric loopback address, without user info, query, fragment or
    empty inner segments. Raises ConnectionFault ``connection.address`` for another form and
    DestinationRefused for an address that may never be called.
    """
    parts = urlsplit(base_url)
    try:
        port = parts.port
    except ValueError:
        raise _unusable(connection) from None
    host = parts.hostname
    path = parts.path.rstrip("/")
    plain = not (parts.query or parts.fragment or "@" in parts.netloc or "\\" in base_url)
    if parts.scheme not in ("http", "https") or not host or not plain or "//" in path:
        raise _unusable(connection)
    if any(segment in (".", "..") for segment in path.split("/")) or _UNPLAIN.search(base_url):
        raise _unusable(connection)
    secure = parts.scheme == "https"
    address = _numeric(host)
    if is_forbidden_host(host):
        raise DestinationRefused
    if not secure and (address is None or not address.is_loopback):
        raise DestinationRefused
    return Destination(secure, host, port or (443 if secure else 80), path)


def is_forbidden_host(host: str) -> bool:
    """Whether a host as it is written may never be called; a name is looked at again resolved."""
    address = _numeric(host)
    if address is not None:
        return is_forbidden(address)
    return host.lower().rstrip(".") in _METADATA_NAMES


def is_forbidden(address: IPAddress) -> bool:
    """Whether no product can live at a network address: metadata, link-local, multicast, none."""
    if isinstance(address, ipaddress.IPv6Address):
        if any(is_forbidden(inner) for inner in _inside(address)):
            return True
    return (
        address in _METADATA
        or address.is_link_local
        or address.is_multicast
        or address.is_unspecified
        or address == ipaddress.IPv4Address("255.255.255.255")
    )


def _inside(address: ipaddress.IPv6Address) -> Iterator[ipaddress.IPv4Address]:
    """Every IPv4 address that a translator or tunnel would make of an IPv6 address."""
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if any(address in network for network in _HOLDING_IPV4):
        yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, in the resolver's order.

    Raises DestinationRefused if any of them is forbidden (a name with one honest and one
    forbidden address is not to be trusted) and OSError if there is none.
    """
    address = _numeric(host)
    if address is not None:
        return [host]
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for text in addresses:
        parsed = _numeric(text.partition("%")[0])
        if parsed is None or is_forbidden(parsed):
            raise DestinationRefused
    if not addresses:
        raise OSError("the name has no address")
    return addresses


def _numeric(host: str) -> IPAddress | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _unusable(connection: str) -> ConnectionFault:
    return ConnectionFault(
        "connection.address",
        "the base address can not be used",
        place=connection,
        remedy="give an https origin, or http on a numeric loopback address, with a plain path",
    )
