"""From a runtime file to keys, ledger, catalogue and Temporal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from temporalio.client import Client, TLSConfig

from adapter.config.document import KeyVersions
from adapter.config.loading import Runtime
from adapter.config.secrets import SecretStore
from adapter.crypto import KeyRing, Sealer, SigningKeys
from adapter.errors import Refused
from adapter.ledger import Ledger, role_of
from adapter.telemetry.process import SILENT, Telemetry
from adapter.temporal.client import TemporalAddress, connect
from adapter.temporal.codec import SealingCodec
from adapter.temporal.schedule import ReconcileSchedule
from interpreter.contract.runs import Binding


def key_ring(runtime: Runtime) -> KeyRing:
    """The deployment's keys; Refused ``keys.invalid``, Unavailable ``secret.*``."""
    keys = runtime.document.keys
    return KeyRing.from_secrets(
        _versions(keys.state, runtime.secrets),
        _versions(keys.admission, runtime.secrets),
        active=keys.state.active,
        admission_active=keys.admission.active,
    )


def signing_keys(runtime: Runtime) -> SigningKeys | None:
    """The keys that sign the journal, None for a deployment without; raises like ``key_ring``."""
    audit = runtime.document.audit
    if audit is None:
        return None
    versions = _versions(audit.signing_key, runtime.secrets)
    return SigningKeys.from_secrets(versions, audit.signing_key.active, audit.retired_keys)


def journal_keys(runtime: Runtime) -> SigningKeys | None:
    """The same for a process that has every key of the deployment: no two of them are equal."""
    signing = signing_keys(runtime)
    key_ring(runtime).require_apart([] if signing is None else signing.versions.values())
    return signing


def journal_signing(
    ledger: Ledger, keys: SigningKeys | None
) -> list[Callable[[], Awaitable[None]]]:
    """What signs the journal of a deployment that has a key for it, to be called every second."""
    return [] if keys is None else [ledger.checkpoints(keys).seal_due]


def _versions(keys: KeyVersions, secrets: SecretStore) -> dict[int, bytes]:
    return {int(version): secrets.read(ref) for version, ref in keys.versions.items()}


@asynccontextmanager
async def open_ledger(
    runtime: Runtime, *, pool_size: int = 10, recovery_only: bool = False
) -> AsyncIterator[Ledger]:
    """The deployment's ledger, closed at the end."""
    keys = key_ring(runtime)
    url = runtime.secrets.secret(runtime.document.database.url).reveal()
    sealer = Sealer(keys, runtime.document.deployment)
    opening = Ledger.open(url, sealer, keys, pool_size=pool_size, recovery_only=recovery_only)
    async with await opening as ledger:
        yield ledger


def service_role(runtime: Runtime) -> str:
    """The database role of the service, which `apply` grants the least.

    Refused ``ledger.role-unnamed`` when neither the runtime file nor the address names it.
    """
    database = runtime.document.database
    role = database.runtime_role or role_of(runtime.secrets.secret(database.url).reveal())
    if not role:
        raise Refused(
            "ledger.role-unnamed",
            "the address of the service's database names no role",
            place="database.runtimeRole",
            remedy="name it in the runtime file",
            status=400,
        )
    return role


def schedule_of(runtime: Runtime) -> ReconcileSchedule:
    """The schedule of this deployment's reconciler."""
    document = runtime.document
    every = timedelta(seconds=document.reconcile.every_seconds)
    return ReconcileSchedule(document.deployment, document.temporal.task_queue, every)


def binding_of(runtime: Runtime) -> Binding:
    """What shapes commands and is frozen with every run that is admitted now."""
    connections = runtime.document.connections.items()
    return Binding(
        dispatch={name: c.dispatch for name, c in connections if c.dispatch is not None},
        task_queues={name: c.task_queue for name, c in connections if c.task_queue is not None},
        plain_signals=runtime.document.temporal.plain_signals,
    )


class TemporalServer:
    """The deployment's Temporal, connected to at the first use and again after an outage."""

    def __init__(
        self,
        runtime: Runtime,
        codec: SealingCodec,
        telemetry: Telemetry = SILENT,
    ) -> None:
        self._runtime = runtime
        self.codec = codec
        self._telemetry = telemetry
        self._connecting = asyncio.Lock()
        self._client: Client | None = None

    async def client(self) -> Client:
        """A connected client; Unavailable ``temporal.unavailable`` when nothing answers."""
        async with self._connecting:
            if self._client is None:
                self._client = await connect(
                    self._address(),
                    self.codec,
                    runtime=self._telemetry.runtime,
                    interceptors=self._telemetry.interceptors,
                )
            return self._client

    def _address(self) -> TemporalAddress:
        wanted, secrets = self._runtime.document.temporal, self._runtime.secrets
        tls = None
        if wanted.tls is not None:
            parts = (wanted.tls.ca_ref, wanted.tls.certificate_ref, wanted.tls.key_ref)
            ca, certificate, key = (None if ref is None else secrets.read(ref) for ref in parts)
            tls = TLSConfig(
                server_root_ca_cert=ca,
                domain=wanted.tls.server_name,
                client_cert=certificate,
                client_private_key=key,
            )
        key_ref = wanted.api_key_ref
        return TemporalAddress(
            wanted.address,
            wanted.namespace,
            tls,
            None if key_ref is None else secrets.secret(key_ref).reveal(),
        )
