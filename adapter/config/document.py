"""runtime.yaml as a frozen model: what a deployment is made of, secrets by reference only."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, model_validator

from adapter.config.findings import RuleBroken
from interpreter.contract.values import Document, JsonValue

API_VERSION = "coordinator/v1"
KIND = "CoordinatorRuntime"
SLOWEST_POLL_SECONDS = 31_536_000
PRODUCTION_FLOOR_SECONDS = 30

LocalId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=512)]
_REFERENCE = r"^secret:(env/[A-Z][A-Z0-9_]{0,127}|file/[a-z][a-z0-9._-]{0,127})$"
_ADDRESS = re.compile(r"^(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\s/]+):(?P<port>[0-9]{1,5})$")


def _secret_reference(value: str) -> str:
    if re.fullmatch(_REFERENCE, value) is None:
        raise RuleBroken(
            "a secret is given by reference only",
            "write secret:file/NAME or secret:env/NAME and keep the secret there",
            code="config.secret-reference",
        )
    return value


def _address(value: str) -> str:
    match = _ADDRESS.match(value)
    if match is None or not 0 <= int(match["port"]) <= 65_535:
        raise RuleBroken("host and port are wanted", "write HOST:PORT, for example 127.0.0.1:7233")
    return value


def _web_address(value: str) -> str:
    remedy = "write http://HOST:PORT or https://HOST, with a path prefix at most"
    try:
        parts = urlsplit(value)
        _ = parts.port
    except ValueError as error:
        raise RuleBroken("this is no web address", remedy) from error
    plain = parts.scheme in ("http", "https") and parts.hostname and "\\" not in value
    if not plain or len(value) > 2048 or any(character.isspace() for character in value):
        raise RuleBroken("this is no web address", remedy)
    if parts.username is not None or parts.query or parts.fragment:
        raise RuleBroken("an address holds no account, query or fragment", remedy)
    return value.rstrip("/")


SecretReference = Annotated[str, AfterValidator(_secret_reference)]
Address = Annotated[str, AfterValidator(_address)]
WebAddress = Annotated[str, AfterValidator(_web_address)]


class Part(Document):
    """A part of the file: strict types, no coercion, unknown keys refused."""

    model_config = ConfigDict(strict=True)


class Secrets(Part):
    """Where ``secret:file/NAME`` is looked up: a folder, relative to the runtime file."""

    file_root: str | None = None


class TemporalTls(Part):
    """TLS towards Temporal; an empty mapping means the system's trust roots and no client key."""

    server_name: Text | None = None
    ca_ref: SecretReference | None = None
    certificate_ref: SecretReference | None = None
    key_ref: SecretReference | None = None


class TemporalPart(Part):
    """The Temporal cluster, its namespace and the task queue of our workers."""

    address: Address
    namespace: Text = "default"
    task_queue: Text = "coordinator"
    tls: TemporalTls | None = None
    api_key_ref: SecretReference | None = None
    ui_url: WebAddress | None = None


class DatabasePart(Part):
    """PostgreSQL addresses: the service's own role, and the role that owns the schema."""

    url: SecretReference
    migration_url: SecretReference


class KeyVersions(Part):
    """The versions of a key; what is new uses ``active``, what is old keeps its own."""

    active: Annotated[int, Field(ge=1, le=4_294_967_295)]
    versions: Annotated[dict[str, SecretReference], Field(min_length=1, max_length=16)]

    @model_validator(mode="after")
    def _canonical(self) -> KeyVersions:
        if any(re.fullmatch(r"[1-9][0-9]{0,9}", version) is None for version in self.versions):
            raise RuleBroken("a key version is no positive number", 'write versions as "1", "2" …')
        if str(self.active) not in self.versions:
            raise RuleBroken(
                "the active version is not among the versions", "add its key, or change active"
            )
        return self


class Keys(Part):
    """The admission keys (product keys, start identities) and the sealing keys."""

    admission: KeyVersions
    state: KeyVersions


class ApiPart(Part):
    """Where the service listens, and the address that callers know it by."""

    bind: Address
    public_url: WebAddress


class NoAuthorization(Part):
    """Calls go out without an Authorization header."""

    type: Literal["none"] = "none"


class BearerAuthorization(Part):
    """Calls carry ``Bearer`` and the token, read anew for every attempt."""

    type: Literal["bearer"]
    token_ref: SecretReference


Authorization = Annotated[NoAuthorization | BearerAuthorization, Field(discriminator="type")]


class Connection(Part):
    """One logical connection: which product answers, where, and under which identity."""

    product: LocalId
    base_url: WebAddress
    profile: Text | None = None
    authorization: Authorization = NoAuthorization()
    dispatch: Literal["local", "remote"] | None = None
    task_queue: Text | None = None
    paths: Annotated[list[Text], Field(min_length=1, max_length=16)] | None = None
    query_parameters: Annotated[list[Text], Field(min_length=1, max_length=16)] | None = None
    response_schema: JsonValue = None
    attempt_timeout_milliseconds: Annotated[int, Field(ge=1, le=60_000)] | None = None
    maximum_response_bytes: Annotated[int, Field(ge=1, le=1_048_576)] | None = None
    protocol: Literal["system-one", "openai-decisions"] | None = None
    model: Text | None = None

    @model_validator(mode="after")
    def _fits_product(self) -> Connection:
        external = {"paths": self.paths, "queryParameters": self.query_parameters}
        external["responseSchema"] = self.response_schema
        decision = {"protocol": self.protocol, "model": self.model}
        _belongs(self.product == "external", external, required=("paths", "responseSchema"))
        _belongs(self.product == "evaluation", decision, required=("protocol", "model"))
        return self


def _belongs(wanted: bool, keys: dict[str, Any], *, required: tuple[str, ...]) -> None:
    present = [key for key, value in keys.items() if value is not None]
    if wanted and (absent := [key for key in required if keys[key] is None]):
        raise RuleBroken(
            f"this product needs {' and '.join(absent)}",
            "add what is missing",
            code="config.missing-key",
        )
    if not wanted and present:
        raise RuleBroken(
            f"this product has no {' or '.join(present)}", "remove it", code="config.unknown-key"
        )


PollSeconds = Annotated[int, Field(ge=1, le=SLOWEST_POLL_SECONDS)]


class Waits(Part):
    """How often a source may be read: never sooner than the floor; per product, how often."""

    floor_seconds: PollSeconds = PRODUCTION_FLOOR_SECONDS
    poll_seconds: dict[LocalId, PollSeconds] = Field(default_factory=dict)


class ReconcilePart(Part):
    """How often ledger and Temporal are compared."""

    every_seconds: Annotated[int, Field(ge=5, le=3_600)] = 60


class CompletionEvents(Part):
    """The shared secret of a product's signed completion events (``whsec_`` and base64)."""

    secret_ref: SecretReference


class EventSourcePart(Part):
    """A sender of events that admit runs: the ``source`` of its events, and its shared secret.

    ``workflows`` are exact workflow ids, or ``*``.
    """

    source: Text
    secret_ref: SecretReference
    workflows: Annotated[list[Text], Field(min_length=1, max_length=64)]


class Events(Part):
    """Which products may bring a wait's next read forward, and whose events may admit runs."""

    completions: dict[LocalId, CompletionEvents] = Field(default_factory=dict)
    sources: dict[LocalId, EventSourcePart] = Field(default_factory=dict, max_length=64)


class Caller(Part):
    """Who may call: the SHA-256 of an API key, and what that caller may do.

    ``workflows`` are exact workflow ids, or ``*``; an operator sees every caller's runs of them.
    The actions from ``doctor`` on are about the whole deployment, and for operators alone.
    """

    name: LocalId
    key_hash: Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
    workflows: Annotated[list[Text], Field(min_length=1, max_length=64)]
    actions: Annotated[
        list[
            Literal[
                "start",
                "status",
                "inspect",
                "events",
                "retry-same",
                "reconcile",
                "cancel",
                "signal",
                "doctor",
                "restore-hold",
                "complete-execution-recovery",
                "release-restore-hold",
                "release-admission-hold",
                "retain",
            ]
        ],
        Field(min_length=1),
    ]
    operator: bool = False


class RuntimeDocument(Part):
    """The whole of runtime.yaml."""

    api_version: Literal["coordinator/v1"]
    kind: Literal["CoordinatorRuntime"]
    deployment: LocalId
    mode: Literal["development", "production"]
    secrets: Secrets = Secrets()
    temporal: TemporalPart
    database: DatabasePart
    keys: Keys
    api: ApiPart
    connections: dict[LocalId, Connection] = Field(default_factory=dict, max_length=64)
    waits: Waits = Waits()
    reconcile: ReconcilePart = ReconcilePart()
    events: Events = Events()
    callers: list[Caller] = Field(default_factory=list, max_length=256)
    catalogue: list[Text] = Field(default_factory=list, max_length=64)


def is_loopback(address: str) -> bool:
    """Whether a web address names a numeric loopback host: there, plain http is harmless."""
    try:
        return ip_address(urlsplit(address).hostname or "").is_loopback
    except ValueError:
        return False
