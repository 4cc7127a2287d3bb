"""A small issuer of access tokens for development: one folder, one loopback port.

It does what a deployment's own issuer does, on one machine and for the same clients: discovery
(RFC 8414), keys (RFC 7517), client credentials with a signed assertion (RFC 6749, RFC 7523),
resource indicators (RFC 8707), token exchange (RFC 8693) and access tokens as RFC 9068 has them.
Production never uses it.
"""

from adapter.issuer.folder import Client, IssuerFolder
from adapter.issuer.tokens import CLIENT_ASSERTION, CLIENT_CREDENTIALS, TOKEN_EXCHANGE, Tokens

__all__ = [
    "CLIENT_ASSERTION",
    "CLIENT_CREDENTIALS",
    "TOKEN_EXCHANGE",
    "Client",
    "IssuerFolder",
    "Tokens",
]
