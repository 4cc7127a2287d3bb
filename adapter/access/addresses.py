"""The network address that a request is counted under, also behind proxies."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Network = IPv4Network | IPv6Network
_MOST_HOPS = 32


def networks_of(texts: Sequence[str]) -> tuple[Network, ...]:
    """Networks by their checked texts."""
    return tuple(ip_network(text) for text in texts)


def counted_address(peer: str, forwarded: Sequence[str], trusted: Sequence[Network]) -> str:
    """The address of whoever sent a request: the peer, or what trusted proxies say of it.

    ``forwarded`` holds the ``X-Forwarded-For`` headers. They are read from the right, where our
    own proxies wrote, and only as long as the writer is trusted: what is further left may be
    invented. An IPv6 address counts with its /64, since whoever has one has them all.
    """
    hops = [hop.strip() for header in forwarded for hop in header.split(",")][-_MOST_HOPS:]
    address = _parsed(peer)
    while hops and address is not None and _within(address, trusted):
        before = _parsed(hops.pop())
        if before is None:
            break
        address = before
    if isinstance(address, IPv6Address):
        return str(IPv6Network((address, 64), strict=False))
    return str(address) if address is not None else peer


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def _within(address: IPv4Address | IPv6Address, networks: Sequence[Network]) -> bool:
    return any(address in network for network in networks if network.version == address.version)
