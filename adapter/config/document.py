"""runtime.yaml as a frozen model: what a deployment is made of, secrets by reference only."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, StringConstraints, model_validator

from adapter.config.callers import Authentication
from adapter.config.findings import RuleBroken
from adapter.config.identities import (
    Authorization,
    ClientAuthorization,
    ConnectionTls,
    NoAuthorization,
)
from adapter.config.words import (
    Address,
    BuildId,
    LocalId,
    Part,
    SecretReference,
    Text,
    WebAddress,
    WebOrigin,
)
from interpreter.contract.values import JsonValue

API_VERSION = "coordinator/v1"
KIND = "CoordinatorRuntime"
SLOWEST_POLL_SECONDS = 31_536_000
PRODUCTION_FLOOR_SECONDS = 30


class SecretProviderPart(Part):
    """A way to secrets that are kept elsewhere: which provider, and what it needs to know."""

    use: LocalId
    settings: dict[str, JsonValue] = Field(default_factory=dict)


class Secrets(Part):
    """Where ``secret:file/NAME`` is looked up: a folder, relative to the runtime file.

    ``secret:PROVIDER/NAME`` is looked up by one of the ``providers``.
    """

    file_root: str | None = None
    providers: dict[LocalId, SecretProviderPart] = Field(default_factory=dict, max_length=16)

    @model_validator(mode="after")
    def _own_names(self) -> Secrets:
        if {"file", "env"} & set(self.providers):
            raise RuleBroken("file and env are there already", "give the provider another name")
        return self


class TemporalTls(Part):
    """TLS towards Temporal; an empty mapping means the system's trust roots and no client key."""

    server_name: Text | None = None
    ca_ref: SecretReference | None = None
    certificate_ref: SecretReference | None = None
    key_ref: SecretReference | None = None


class DeploymentPart(Part):
    """Builds of workers are told apart: in Temporal under ``name``, by default the deployment's.

    ``build_id`` is a worker's own build where COORDINATOR_BUILD_ID does not say it.
    """

    name: LocalId | None = None
    build_id: BuildId | None = None


class TemporalPart(Part):
    """The Temporal cluster, its namespace and the task queue of our workers.

    ``sticky_seconds`` is how long a task waits for the worker that knows its run,
    ``plain_signals`` whether runs that are admitted from now on take signals in clear text.
    Without ``deployment`` one build of the workers is as good as another.
    """

    address: Address
    namespace: Text = "default"
    task_queue: Text = "coordinator"
    sticky_seconds: Annotated[int, Field(ge=1, le=60)] = 3
    tls: TemporalTls | None = None
    api_key_ref: SecretReference | None = None
    ui_url: WebAddress | None = None
    plain_signals: bool = True
    deployment: DeploymentPart | None = None


class DatabasePart(Part):
    """PostgreSQL addresses: the service's own role, and the role that owns the schema.

    ``runtime_role`` names the service's role where its address does not.
    """

    url: SecretReference
    migration_url: SecretReference
    runtime_role: Text | None = None


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


class Connection(Part):
    """One logical connection: which product answers, where, and under which identity."""

    product: LocalId
    base_url: WebAddress
    profile: Text | None = None
    authorization: Authorization = NoAuthorization()
    observation_authorization: ClientAuthorization | None = None
    tls: ConnectionTls | None = None
    dispatch: Literal["local", "remote"] | None = None
    task_queue: Text | None = None
    paths: Annotated[list[Text], Field(min_length=1, max_length=16)] | None = None
    query_parameters: Annotated[list[Text], Field(min_length=1, max_length=16)] | None = None
    response_schema: JsonValue = None
    attempt_timeout_milliseconds: Annotated[int, Field(ge=1, le=60_000)] | None = None
    maximum_request_bytes: Annotated[int, Field(ge=1, le=1_048_576)] | None = None
    maximum_response_bytes: Annotated[int, Field(ge=1, le=1_048_576)] | None = None
    protocol: Literal["system-one", "openai-decisions"] | None = None
    model: Text | None = None

    @property
    def for_tasks(self) -> bool | None:
        """Whether calls are done for a task; None where grants are taken as they come."""
        kind = self.authorization
        if isinstance(kind, NoAuthorization) and kind.grants is not None:
            return None
        return isinstance(kind, ClientAuthorization) and kind.task_authority is not None

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


class MetricsEndpoint(Part):
    """Where one kind of process shows its metrics; of several workers on a host the next port."""

    bind: Address


class Metrics(Part):
    """Metrics by kind of process; a kind that is left out shows none."""

    service: MetricsEndpoint | None = None
    worker: MetricsEndpoint | None = None


class Traces(Part):
    """Where spans go: to an OTLP collector over HTTP, or into a file of JSON lines.

    ``authorization_ref`` is the whole Authorization header that the collector wants.
    """

    endpoint: WebAddress | None = None
    authorization_ref: SecretReference | None = None
    file: Text | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Traces:
        if (self.endpoint is None) == (self.file is None):
            raise RuleBroken("traces go to one place", "give either endpoint or file")
        if self.file is not None and self.authorization_ref is not None:
            raise RuleBroken("a file wants no authorization", "remove authorizationRef")
        return self


class TelemetryPart(Part):
    """What the processes tell about themselves; nothing unless it is asked for."""

    metrics: Metrics = Metrics()
    traces: Traces | None = None


class AuditPart(Part):
    """The key that signs the journal's checkpoints; ``retired_keys`` are public keys by version.

    A version whose secret is destroyed stays there, so that what it signed can still be proved.
    """

    signing_key: KeyVersions
    retired_keys: Annotated[
        dict[str, Annotated[str, StringConstraints(pattern=r"^ed25519:[0-9a-f]{64}$")]],
        Field(max_length=64),
    ] = Field(default_factory=dict)


class CodecPart(Part):
    """The codec server: the origins of the Temporal UI whose pages may have payloads opened.

    With ``key_in_path`` an API key may stand in the address: for a Temporal UI that sends no
    header, on one machine.
    """

    ui_origins: Annotated[list[WebOrigin], Field(min_length=1, max_length=8)]
    key_in_path: bool = False


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
    audit: AuditPart | None = None
    api: ApiPart
    connections: dict[LocalId, Connection] = Field(default_factory=dict, max_length=64)
    waits: Waits = Waits()
    reconcile: ReconcilePart = ReconcilePart()
    events: Events = Events()
    telemetry: TelemetryPart = TelemetryPart()
    codec: CodecPart | None = None
    authentication: Authentication = Authentication()
    catalogue: list[Text] = Field(default_factory=list, max_length=64)


def is_loopback(address: str) -> bool:
    """Whether a web address names a numeric loopback host: there, plain http is harmless."""
    try:
        return ip_address(urlsplit(address).hostname or "").is_loopback
    except ValueError:
        return False
