"""The connection to a Temporal server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from temporalio.client import Client, Interceptor, TLSConfig
from temporalio.runtime import Runtime
from temporalio.service import RPCError

from adapter.errors import Unavailable
from adapter.temporal.codec import SealingCodec
from adapter.temporal.payloads import sealed_converter

_SETTING = "temporal.address"


@dataclass(frozen=True, slots=True)
class TemporalAddress:
    """Where a deployment's Temporal is; ``tls`` None means cleartext, for loopback only."""

    address: str
    namespace: str = "default"
    tls: TLSConfig | None = field(default=None, repr=False)
    api_key: str | None = field(default=None, repr=False)


async def connect(
    where: TemporalAddress,
    codec: SealingCodec,
    *,
    runtime: Runtime | None = None,
    interceptors: Sequence[Interceptor] = (),
) -> Client:
    """A connected client that seals everything; its workers use codec and interceptors too.

    Raises Unavailable ``temporal.unavailable`` when nothing answers at the address.
    """
    try:
        return await Client.connect(
            where.address,
            namespace=where.namespace,
            tls=where.tls or False,
            api_key=where.api_key,
            data_converter=sealed_converter(codec),
            runtime=runtime,
            interceptors=interceptors,
        )
    except (RuntimeError, OSError) as error:
        raise Unavailable(
            "temporal.unavailable",
            f"Temporal does not answer at {where.address}",
            place=_SETTING,
            remedy="start Temporal, or correct the address",
        ) from error


def unanswered(error: RPCError, remedy: str) -> Unavailable:
    """Unavailable ``temporal.unavailable`` for what Temporal did not do, or did not answer."""
    return Unavailable(
        "temporal.unavailable",
        f"Temporal did not answer ({error.status.name})",
        place=_SETTING,
        remedy=remedy,
    )
