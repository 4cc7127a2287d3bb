"""The part of runtime.yaml about who may call: token issuers, their clients, and API keys."""

from __future__ import annotations

from datetime import datetime
from ipaddress import ip_network
from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from adapter.config.findings import RuleBroken
from adapter.config.words import LocalId, Part, SecretReference, Text, WebAddress

LONGEST_LIFETIME_SECONDS = 3_600

Action = Literal[
    "start",
    "status",
    "inspect",
    "events",
    "retry-same",
    "reconcile",
    "cancel",
    "signal",
    "decode",
    "doctor",
    "restore-hold",
    "complete-execution-recovery",
    "release-restore-hold",
    "release-admission-hold",
    "retain",
]
ACTIONS: tuple[str, ...] = get_args(Action)
OPERATORS_ALONE = frozenset(ACTIONS[ACTIONS.index("decode") :])
"""What opens sealed payloads or is about the whole deployment: only with `operator: true`."""

EVERY_WORKFLOW = "*"


def _issuer(value: str) -> str:
    # Compared letter by letter with `iss`, so nothing about it is normalised.
    parts = urlsplit(value)
    plain = parts.scheme in ("http", "https") and parts.hostname and value.isascii()
    if not plain or parts.username is not None or "?" in value or "#" in value or " " in value:
        raise RuleBroken(
            "this is no issuer's address", "write it exactly as the tokens' `iss` has it"
        )
    return value


def _instant(value: str) -> str:
    try:
        aware = datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        aware = False
    if not aware:
        raise RuleBroken(
            "an instant with an offset is wanted", "write it like 2027-03-31T12:00:00Z"
        )
    return value


def _network(value: str) -> str:
    try:
        ip_network(value)
    except ValueError as error:
        raise RuleBroken("this is no network", "write it like 10.0.0.0/8 or 10.0.0.7") from error
    return value


def _workflows(value: list[str]) -> list[str]:
    if EVERY_WORKFLOW in value and len(value) > 1:
        raise RuleBroken("every workflow holds the others", 'write "*" alone, or name each')
    return value


def _distinct(value: list[str]) -> list[str]:
    if len(set(value)) != len(value):
        raise RuleBroken("an item stands twice", "name it once", code="config.duplicate-item")
    return value


Issuer = Annotated[Text, AfterValidator(_issuer)]
Instant = Annotated[str, AfterValidator(_instant)]
Network = Annotated[str, AfterValidator(_network)]
KeyHash = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
WorkflowName = Annotated[str, StringConstraints(pattern=r"^(\*|[A-Za-z0-9][A-Za-z0-9_-]{0,63})$")]
ScopeToken = Annotated[str, StringConstraints(pattern=r"^[!#-\[\]-~]{1,256}$")]
ClientId = Annotated[str, StringConstraints(pattern=r"^[ -~]{1,128}$")]
Algorithm = Literal["RS256", "ES256", "EdDSA"]
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)


class Policy(Part):
    """What a caller may do: ``workflows`` are exact ids or ``*``, ``actions`` what it may ask.

    An operator sees every caller's runs of its workflows, and may be given the actions that are
    for operators alone.
    """

    workflows: Annotated[
        list[WorkflowName],
        Field(min_length=1, max_length=64),
        AfterValidator(_workflows),
        AfterValidator(_distinct),
    ]
    actions: Annotated[
        list[Action],
        Field(min_length=1, max_length=len(ACTIONS)),
        AfterValidator(_distinct),
    ]
    operator: bool = False


class ClientPolicy(Policy):
    """What an issuer's client may do with tokens that hold all of ``requiredScopes``."""

    required_scopes: Annotated[
        list[ScopeToken], Field(min_length=1, max_length=64), AfterValidator(_distinct)
    ]

    @model_validator(mode="after")
    def _bounded(self) -> ClientPolicy:
        if len(" ".join(self.required_scopes)) > 1_024:
            raise RuleBroken("the scopes have more than 1024 bytes together", "require fewer")
        return self


class ApiKeyPart(Part):
    """One API key by its SHA-256, and the instant from which it is worth nothing."""

    hash: KeyHash
    expires_at: Instant

    @property
    def expires(self) -> datetime:
        """The end of the key, aware."""
        return datetime.fromisoformat(self.expires_at)


class ApiKeyCaller(Policy):
    """A program that calls with an API key; a second key lets it change without a pause."""

    keys: Annotated[list[ApiKeyPart], Field(min_length=1, max_length=4)]


class DiscoveredKeys(Part):
    """The key set that the issuer's own metadata names."""

    type: Literal["discovery"] = "discovery"


class KeysAt(Part):
    """A key set at an address of its own."""

    type: Literal["uri"]
    uri: WebAddress


class StaticKeys(Part):
    """A key set in a document that the deployer keeps; it is read again now and then."""

    type: Literal["static"]
    document_ref: SecretReference


KeySet = Annotated[DiscoveredKeys | KeysAt | StaticKeys, Field(discriminator="type")]
KEY_SET_KINDS = frozenset({"discovery", "uri", "static"})


class IssuerPart(Part):
    """An issuer of access tokens (RFC 9068), and which of its clients may call."""

    issuer: Issuer
    audience: Text
    key_set: KeySet = DiscoveredKeys()
    algorithms: Annotated[
        list[Algorithm], Field(min_length=1, max_length=3), AfterValidator(_distinct)
    ] = Field(default_factory=lambda: list(ALGORITHMS))
    scope_claim: Annotated[str, StringConstraints(min_length=1, max_length=128)] = "scope"
    longest_lifetime_seconds: Annotated[int, Field(ge=1, le=LONGEST_LIFETIME_SECONDS)] = (
        LONGEST_LIFETIME_SECONDS
    )
    clients: Annotated[dict[ClientId, ClientPolicy], Field(min_length=1, max_length=64)]


class CallLimits(Part):
    """How much one caller may ask of one process, and how often one address may fail to say who.

    Behind proxies of ``trustedProxies`` the address is the one that they forward.
    """

    per_second: Annotated[int, Field(ge=1, le=10_000)] = 50
    burst: Annotated[int, Field(ge=1, le=100_000)] = 200
    failures_per_minute: Annotated[int, Field(ge=1, le=10_000)] = 60
    trusted_proxies: Annotated[list[Network], Field(max_length=64)] = Field(default_factory=list)


class Authentication(Part):
    """Who may call: issuers by a name of their own, API keys by the name of their caller."""

    issuers: Annotated[dict[LocalId, IssuerPart], Field(max_length=16)] = Field(
        default_factory=dict
    )
    api_keys: Annotated[dict[LocalId, ApiKeyCaller], Field(max_length=256)] = Field(
        default_factory=dict
    )
    limits: CallLimits = CallLimits()
