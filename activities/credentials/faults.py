"""The three ways in which a credential can not be had; all are before sending."""

from __future__ import annotations

from activities.errors import ConnectionFault


class CredentialUnavailable(ConnectionFault):
    """The credential can not be had now (transport, 408, 429, 5xx, absent secret): try again.

    ``retry_after`` is the issuer's own delay in seconds, where it named one.
    """

    retry_after: float | None = None


class CredentialRefused(ConnectionFault):
    """The issuer refused the credential; repeating the attempt changes nothing."""


class CredentialUnusable(ConnectionFault):
    """What the deployment holds is no credential (no key, no certificate): a person corrects it."""
