"""How values become payloads and back, and the converter that every client and worker is given."""

from __future__ import annotations

from typing import Any, Self

from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    CompositePayloadConverter,
    DataConverter,
    DefaultPayloadConverter,
    EncodingPayloadConverter,
    SerializationContext,
)

from adapter.temporal.codec import SealingCodec
from adapter.temporal.failures import FailureConverter
from adapter.temporal.refusals import RefusedConverter
from adapter.temporal.start_message import is_start, start_of, start_payload
from interpreter.contract.calls import PlainValue
from interpreter.contract.runs import StartRun


class JsonConverter(EncodingPayloadConverter):
    """Plain JSON; the start of a run carries a mark of its own."""

    def __init__(self, usual: EncodingPayloadConverter) -> None:
        self._usual = usual

    @property
    def encoding(self) -> str:
        """That of Temporal's own JSON converter."""
        return self._usual.encoding

    def to_payload(self, value: Any) -> Payload | None:
        """A marked payload for a StartRun, the usual one for anything else."""
        if isinstance(value, StartRun):
            return start_payload(value, self.encoding)
        return self._usual.to_payload(value)

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        """A StartRun where one is asked for and the payload is marked, else the JSON value."""
        if type_hint is StartRun and is_start(payload):
            return start_of(payload)
        plain = type_hint in (StartRun, PlainValue)
        return self._usual.from_payload(payload, None if plain else type_hint)


# Made once: the SDK makes a payload converter for every workflow and activity that it turns to.
_CONVERTERS = (
    *(
        JsonConverter(usual) if usual.encoding == "json/plain" else usual
        for usual in DefaultPayloadConverter.default_encoding_payload_converters
    ),
    RefusedConverter(),
)


class PayloadConverter(CompositePayloadConverter):
    """Temporal's own converters, ours around that of plain JSON, and one for what is refused."""

    def __init__(self) -> None:
        super().__init__(*_CONVERTERS)


class SealedConverter(DataConverter):
    """A converter of which the codec alone has a context.

    The SDK asks for a context some forty times in a short run, and makes everything anew for each.
    """

    def with_context(self, context: SerializationContext) -> Self:
        """The same converter for the payloads of one workflow or activity."""
        codec = self.payload_codec
        assert isinstance(codec, SealingCodec)
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, payload_codec=codec.with_context(context))
        return made


def sealed_converter(codec: SealingCodec) -> DataConverter:
    """The converter of every client and worker of a deployment."""
    return SealedConverter(
        payload_converter_class=PayloadConverter,
        failure_converter_class=FailureConverter,
        payload_codec=codec,
    )
