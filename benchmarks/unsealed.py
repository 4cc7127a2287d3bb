"""Temporal in clear text, to measure what sealing costs: no process of a deployment can do this."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.converter import PayloadCodec

from adapter.temporal.start_message import is_start, start_of
from interpreter.contract.runs import StartRun
from tests.fixtures.clear import clear_converter

Prefetch = Callable[[StartRun], Awaitable[None]]


class ClearCodec(PayloadCodec):
    """Has a start's definition fetched, as the codec that seals does, and does nothing else."""

    def __init__(self, prefetch: Prefetch | None) -> None:
        self._prefetch = prefetch

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Payloads as they are."""
        return list(payloads)

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Payloads as they are, once the definition of a start is at hand."""
        for payload in payloads:
            if self._prefetch is not None and is_start(payload):
                await self._prefetch(start_of(payload))
        return list(payloads)


async def connect_unsealed(address: str, prefetch: Prefetch | None = None) -> Client:
    """A client with this project's converters and no keys."""
    return await Client.connect(address, data_converter=clear_converter(ClearCodec(prefetch)))
