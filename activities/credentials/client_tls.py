"""The certificate by which a connection proves itself, and whom it believes (mutual TLS)."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from activities.credentials.faults import CredentialUnusable
from activities.credentials.masking import Secret
from activities.credentials.trust import trusting


@dataclass(frozen=True, slots=True)
class ClientTls:
    """A certificate chain and its key, and the authorities trusted in the place of the system's.

    All three are PEM texts; a certificate comes with its key.
    """

    certificate: Secret | None = None
    key: Secret | None = None
    authorities: Secret | None = None

    def context(self, connection: str) -> ssl.SSLContext:
        """A context that verifies names and certificates, always.

        Raises CredentialUnusable ``connection.tls`` for texts that are no certificate or no key.
        """
        try:
            trusted = None if self.authorities is None else self.authorities.reveal()
            context = trusting(trusted)
            if self.certificate is not None and self.key is not None:
                with _written(self.certificate, self.key) as path:
                    context.load_cert_chain(path, password=_no_password)
        except (ssl.SSLError, OSError, ValueError) as error:
            raise CredentialUnusable(
                "connection.tls",
                "the certificate, key or authorities of the connection can not be used",
                place=connection,
                remedy="keep PEM texts there: a chain with its own key, without a password",
            ) from error
        return context


def _no_password() -> str:
    # Without it OpenSSL would ask the terminal for the password of an encrypted key.
    raise ValueError("the key is encrypted")


@contextmanager
def _written(certificate: Secret, key: Secret) -> Iterator[str]:
    """The path of both as one file, which Python's TLS wants: in memory where that is possible."""
    data = f"{certificate.reveal()}\n{key.reveal()}\n".encode()
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("client-tls", os.MFD_CLOEXEC)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            yield f"/proc/self/fd/{descriptor}"
        return
    with tempfile.NamedTemporaryFile() as private:
        private.write(data)
        private.flush()
        yield private.name
