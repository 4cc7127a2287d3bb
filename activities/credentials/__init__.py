"""Secrets at the moment of a call: masked values, faults, and how a connection authorises.

A credential is fetched fresh for every attempt; whatever fails here happened before sending.
"""

from activities.credentials.attempt import (
    Attempt,
    Authorization,
    Grant,
    Post,
    PostAnswer,
    ReadSecret,
    read_grant,
)
from activities.credentials.authorization import Anonymous, BearerToken
from activities.credentials.client_credentials import ClientCredentials
from activities.credentials.client_tls import ClientTls
from activities.credentials.faults import (
    CredentialRefused,
    CredentialUnavailable,
    CredentialUnusable,
)
from activities.credentials.masking import Secret
from activities.credentials.task_authority import TaskAuthority, TaskBound
from activities.credentials.trust import trusting

__all__ = [
    "Anonymous",
    "Attempt",
    "Authorization",
    "BearerToken",
    "ClientCredentials",
    "ClientTls",
    "CredentialRefused",
    "CredentialUnavailable",
    "CredentialUnusable",
    "Grant",
    "Post",
    "PostAnswer",
    "ReadSecret",
    "Secret",
    "TaskAuthority",
    "TaskBound",
    "read_grant",
    "trusting",
]
