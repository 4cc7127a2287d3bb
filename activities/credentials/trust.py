"""Whom a process believes when it calls over TLS."""

from __future__ import annotations

import ssl

# Python 3.13 and later begin with these two, 3.11 and 3.12 without them. A certificate must not
# be good on one worker and bad on another: RFC 5280 in full everywhere, and whatever the deployer
# names as trusted ends a chain, be it no root.
_FLAGS = ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN


def trusting(authorities: str | None = None) -> ssl.SSLContext:
    """A context that verifies certificates and names, alike on every Python; TLS 1.2 or newer.

    It trusts the authorities of a PEM text, or the system's. Raises ssl.SSLError or ValueError
    for a text that holds no certificate.
    """
    context = ssl.create_default_context(cadata=authorities)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.verify_flags |= _FLAGS
    return context
