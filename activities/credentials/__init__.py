"""Secrets at the moment of a call: masked values, faults, and how a connection authorises.

A credential is fetched fresh for every attempt; whatever fails here happened before sending.
"""

from activities.credentials.authorization import Anonymous, Authorization, BearerToken
from activities.credentials.faults import CredentialRefused, CredentialUnavailable
from activities.credentials.masking import Secret

__all__ = [
    "Anonymous",
    "Authorization",
    "BearerToken",
    "CredentialRefused",
    "CredentialUnavailable",
    "Secret",
]
