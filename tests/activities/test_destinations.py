"""Which addresses may be called, before and after a name is resolved."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl

import pytest

from activities.destinations import (
    Destination,
    DestinationRefused,
    destination_of,
    is_forbidden,
    resolve,
)
from activities.errors import ConnectionFault
from activities.products.transport import Failure, HttpRequest, Transport


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://crm.example.org", Destination(True, "crm.example.org", 443, "")),
        ("https://crm.example.org:8443/a/b/", Destination(True, "crm.example.org", 8443, "/a/b")),
        ("http://127.0.0.1:8080/x", Destination(False, "127.0.0.1", 8080, "/x")),
        ("http://[::1]:8080", Destination(False, "::1", 8080, "")),
        ("https://10.1.2.3", Destination(True, "10.1.2.3", 443, "")),
    ],
)
def test_a_base_address_is_taken_apart(url: str, expected: Destination) -> None:
    assert destination_of(url, "crm") == expected


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8080",
        "http://crm.example.org",
        "http://10.1.2.3",
        "https://169.254.169.254/latest",
        "https://[fd00:ec2::254]",
        "https://[fe80::1]",
        "https://[::ffff:169.254.169.254]",
        "https://[64:ff9b::a9fe:a9fe]",
        "https://100.100.100.200",
        "https://metadata.google.internal",
        "https://0.0.0.0",
        "https://[::]",
        "https://[fe80::1%25eth0]",
        "https://[64:ff9b:1::a9fe:a9fe]",
        "https://[2002:a9fe:a9fe::1]",
        "https://[::169.254.169.254]",
        "https://[::ffff:0:169.254.169.254]",
        # Teredo: as the server, and as the client, whose address stands there inverted.
        "https://[2001:0:a9fe:a9fe::1]",
        "https://[2001:0:4136:e378:8000:63bf:5601:5601]",
        "https://[fd20:ce::254]",
        "https://[fd00:42::42]",
        "https://METADATA.google.internal.",
        "https://224.0.0.1",
        "https://255.255.255.255",
        # Spellings of 127.0.0.1 that are no numeric address here, so cleartext does not go there.
        "http://2130706433",
        "http://0x7f000001",
        "http://0177.0.0.1",
        "http://127.1",
        "http://0.0.0.0:8080",
    ],
)
def test_metadata_link_local_and_cleartext_are_refused(url: str) -> None:
    with pytest.raises(DestinationRefused):
        destination_of(url, "crm")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://crm.example.org",
        "https://user:secret@crm.example.org",
        "https://crm.example.org?x=1",
        "https://crm.example.org#x",
        "https://crm.example.org/a//b",
        "https://crm.example.org/a/../b",
        "https://crm.example.org:port",
        "https://crm.example.org\\@evil.example",
        "https://crm.example.org/ä",
        "https://",
        "crm.example.org",
    ],
)
def test_another_form_of_address_is_a_fault_that_shows_no_value(url: str) -> None:
    with pytest.raises(ConnectionFault) as caught:
        destination_of(url, "crm")
    assert caught.value.code == "connection.address"
    assert "secret" not in str(caught.value)
    assert "example" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    # Shared address space (RFC 6598) is a private network like others, but for one address in it.
    ["10.0.0.1", "192.168.1.1", "100.64.0.1", "fd12::1", "127.0.0.1", "8.8.8.8", "2001:db8::1"],
)
def test_private_and_public_networks_are_allowed(address: str) -> None:
    assert not is_forbidden(ipaddress.ip_address(address))


async def test_a_name_that_also_leads_to_metadata_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _resolves_to(monkeypatch, "93.184.216.34", "169.254.169.254")
    with pytest.raises(DestinationRefused):
        await resolve("crm.example.org", 443)


@pytest.mark.parametrize(
    "address",
    ["169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "fe80::1%eth0", "::"],
)
async def test_a_name_that_leads_to_metadata_is_refused_before_connecting(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    _resolves_to(monkeypatch, address)
    transport = Transport(
        destination_of("https://crm.example.org", "crm"), ssl.create_default_context()
    )
    request = HttpRequest("GET", "/", ())
    assert await transport.exchange(request, 1, 100) is Failure.DESTINATION


@pytest.mark.parametrize(
    "host",
    ["2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.16689662", "0xa9.254.0251.254", "0"],
)
async def test_a_number_that_the_system_takes_for_metadata_is_refused(host: str) -> None:
    assert destination_of(f"https://{host}", "crm").host == host
    with pytest.raises(DestinationRefused):
        await resolve(host, 443)


async def test_a_name_gives_each_address_once(monkeypatch: pytest.MonkeyPatch) -> None:
    _resolves_to(monkeypatch, "10.0.0.1", "10.0.0.1", "10.0.0.2")
    assert await resolve("crm.example.org", 443) == ["10.0.0.1", "10.0.0.2"]


def _resolves_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    async def resolver(host: str, port: int, **_: object) -> list[object]:
        return [(2, 1, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(asyncio.get_event_loop(), "getaddrinfo", resolver)
