"""Certificates made in a test: an authority, and whom it vouches for."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Key = ec.EllipticCurvePrivateKey


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, as PEM texts."""

    certificate: str
    key: str


class Authority:
    """A certificate authority of one test; a careless one leaves out what RFC 5280 wants."""

    def __init__(self, name: str = "authority", *, careless: bool = False) -> None:
        self._careless = careless
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        self._certificate = self._signed(self._name, self._key, [], ca=True)

    @property
    def pem(self) -> str:
        """Its own certificate."""
        return self._certificate.public_bytes(serialization.Encoding.PEM).decode()

    def issue(self, name: str, address: str | None = None, *, dns: bool = False) -> Pair:
        """A certificate, good for a server at an address if one is given, or under its name."""
        key = ec.generate_private_key(ec.SECP256R1())
        names: list[x509.GeneralName] = [x509.DNSName(name)] if dns else []
        if address is not None:
            names.append(x509.IPAddress(ipaddress.ip_address(address)))
        certificate = self._signed(_name(name), key, names, ca=False)
        return Pair(certificate.public_bytes(serialization.Encoding.PEM).decode(), _text(key))

    def server(
        self, folder: Path, *, client_of: Authority | None = None, name: str | None = None
    ) -> ssl.SSLContext:
        """A server's context for 127.0.0.1, or for a name; it may want clients of an authority."""
        pair = self.issue("server", "127.0.0.1") if name is None else self.issue(name, dns=True)
        pem = folder / "server.pem"
        pem.write_text(pair.certificate + pair.key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        if client_of is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(cadata=client_of.pem)
        return context

    def _signed(
        self, subject: x509.Name, key: Key, names: list[x509.GeneralName], *, ca: bool
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(hours=1))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        )
        if not self._careless:
            own = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
            digest = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
            builder = builder.add_extension(own, critical=False)
            builder = builder.add_extension(digest, critical=False)
            builder = builder.add_extension(_usage(ca), critical=True)
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return builder.sign(self._key, hashes.SHA256())


def _usage(ca: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not ca,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=ca,
        crl_sign=ca,
        encipher_only=False,
        decipher_only=False,
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _text(key: Key) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
