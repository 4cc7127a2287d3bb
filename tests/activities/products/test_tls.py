"""TLS: the certificate is checked against the name, and connections are kept."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from activities.destinations import Destination
from activities.products.transport import Failure, HttpAnswer, HttpRequest, Transport
from tests.activities.wire import reply, wire_server

_POST = HttpRequest("POST", "/", (), b"{}")


@pytest.fixture
def served(tmp_path: Path) -> ssl.SSLContext:
    """A server's context with a certificate of its own for the address 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "pretend")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = tmp_path / "server.pem"
    pem.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    return context


@pytest.fixture
def trust(tmp_path: Path, served: ssl.SSLContext) -> ssl.SSLContext:
    """A client's context that trusts that certificate."""
    return ssl.create_default_context(cafile=str(tmp_path / "server.pem"))


async def test_a_trusted_certificate_is_accepted_and_the_connection_kept(
    served: ssl.SSLContext, trust: ssl.SSLContext
) -> None:
    async with wire_server(reply(), served) as wire:
        transport = Transport(Destination(True, "127.0.0.1", wire.port, ""), trust)
        for _ in range(3):
            assert isinstance(await transport.exchange(_POST, 2, 1_000), HttpAnswer)
        await transport.aclose()
    assert wire.connections == 1


async def test_an_unknown_certificate_was_not_sent_to(served: ssl.SSLContext) -> None:
    async with wire_server(reply(), served) as wire:
        destination = Destination(True, "127.0.0.1", wire.port, "")
        transport = Transport(destination, ssl.create_default_context())
        assert await transport.exchange(_POST, 2, 1_000) is Failure.NOT_SENT
    assert wire.heads == []


async def test_a_certificate_of_another_name_was_not_sent_to(
    served: ssl.SSLContext, trust: ssl.SSLContext
) -> None:
    async with wire_server(reply(), served) as wire:
        transport = Transport(Destination(True, "localhost", wire.port, ""), trust)
        assert await transport.exchange(_POST, 2, 1_000) is Failure.NOT_SENT
    assert wire.heads == []
