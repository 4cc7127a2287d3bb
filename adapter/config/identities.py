"""The identities that a connection may have in runtime.yaml: who calls, and how that is proved."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from adapter.config.findings import RuleBroken
from adapter.config.words import (
    AbsoluteUri,
    Endpoint,
    KeyReference,
    Part,
    SecretReference,
    Text,
    WebAddress,
)

LONGEST_SCOPES = 4_096
_Scope = Annotated[
    str, StringConstraints(pattern=r"^[\x21\x23-\x5b\x5d-\x7e]{1,256}$", max_length=256)
]


class NoAuthorization(Part):
    """Nobody in particular: for a product on a numeric loopback address.

    ``grants: ignored`` is for products that are pretended: an input may hold a task's grant, and
    nobody asserts it.
    """

    type: Literal["none"] = "none"
    grants: Literal["ignored"] | None = None


class PublicAuthorization(Part):
    """Nobody in particular, at an external service that is meant for everybody."""

    type: Literal["anonymous"]


class BearerAuthorization(Part):
    """A token that something else keeps fresh, read anew for every attempt.

    ``principal`` says whose it is: it is part of the connection's identity, the token is not.
    """

    type: Literal["bearer"]
    token_ref: SecretReference
    principal: Text | None = None


class TaskAuthorityPart(Part):
    """Who asserts the grants of tasks, and how its assertions look (contract 1.4)."""

    base_url: WebAddress
    issuer: AbsoluteUri
    subject: Text
    exchange_audience: AbsoluteUri
    bootstrap_resource: AbsoluteUri


class ClientAuthorization(Part):
    """OAuth client credentials with ``private_key_jwt``: a token of its own for every attempt."""

    type: Literal["client-credentials"]
    token_endpoint: Endpoint
    client_id: Annotated[str, StringConstraints(pattern=r"\S", max_length=256)]
    client_assertion_audience: AbsoluteUri | None = None
    signing_key_ref: KeyReference
    resource: AbsoluteUri
    scopes: Annotated[list[_Scope], Field(min_length=1, max_length=32)]
    task_authority: TaskAuthorityPart | None = None

    @model_validator(mode="after")
    def _scopes_are_a_set(self) -> ClientAuthorization:
        if len(set(self.scopes)) != len(self.scopes):
            raise RuleBroken("a scope stands twice", "keep it once", code="config.duplicate-item")
        if len(" ".join(self.scopes)) > LONGEST_SCOPES:
            raise RuleBroken(
                f"the scopes together have more than {LONGEST_SCOPES} bytes",
                "ask for fewer",
                code="config.invalid-length",
            )
        return self


class ConnectionTls(Part):
    """A client certificate with its key, and authorities in the place of the system's."""

    certificate_ref: SecretReference | None = None
    key_ref: KeyReference | None = None
    ca_ref: SecretReference | None = None

    @model_validator(mode="after")
    def _certificate_has_its_key(self) -> ConnectionTls:
        if (self.certificate_ref is None) != (self.key_ref is None):
            raise RuleBroken(
                "a client certificate and its key come together",
                "give certificateRef and keyRef, or neither",
                code="config.missing-key",
            )
        if self.certificate_ref is None and self.ca_ref is None:
            raise RuleBroken(
                "there is no certificate here",
                "give certificateRef and keyRef, or caRef, or leave tls out",
                code="config.missing-key",
            )
        return self


Authorization = Annotated[
    NoAuthorization | PublicAuthorization | BearerAuthorization | ClientAuthorization,
    Field(discriminator="type"),
]
KINDS = frozenset({"none", "anonymous", "bearer", "client-credentials"})
