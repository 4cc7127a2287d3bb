"""What becomes of a payload that is not sealed for its run: a refused one, which no code reads.

A codec that raised would fail the task again and again; a refused payload is dropped as a signal,
rejected as an update and no reply as an activity's result, and the run goes on (protocol rule 11).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.converter import EncodingPayloadConverter
from temporalio.exceptions import ApplicationError

from activities.products.strict_json import parse_json
from interpreter.contract.calls import PlainValue
from interpreter.contract.values import JsonValue

_ENCODING = "binary/coordinator-refused"
_REASON = "why"
CODE = "payload.refused"
LARGEST_PLAIN_BYTES = 65_536
"""As much as the API takes as a body."""


class Reason(StrEnum):
    """Why a payload is refused.

    ``clear``: it is not sealed. ``elsewhere``: it is stamped for another run. ``damaged``: it says
    that it belongs here, and does not open.
    """

    CLEAR = "clear"
    ELSEWHERE = "elsewhere"
    DAMAGED = "damaged"


def refused(payload: Payload, reason: Reason) -> Payload:
    """The refused form of a payload; the payload stays inside it as it came."""
    metadata = {"encoding": _ENCODING.encode(), _REASON: reason.value.encode()}
    return Payload(metadata=metadata, data=payload.SerializeToString())


def is_refused(payload: Payload) -> bool:
    """True for a payload that ``refused`` made."""
    return payload.metadata.get("encoding") == _ENCODING.encode()


class RefusedConverter(EncodingPayloadConverter):
    """Raises for a refused payload, unless what came in clear text is asked for by its type."""

    @property
    def encoding(self) -> str:
        """That of refused payloads."""
        return _ENCODING

    def to_payload(self, value: Any) -> Payload | None:
        """Nothing is refused on its way out."""
        return None

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        """What came in clear text for ``PlainValue``; ApplicationError ``payload.refused`` else.

        ValueError for clear text that is no JSON which a run could keep.
        """
        reason = payload.metadata.get(_REASON, b"").decode()
        if type_hint is PlainValue and reason == Reason.CLEAR:
            return _plain(Payload.FromString(payload.data))
        raise ApplicationError(
            f"a payload is not sealed for this run ({reason}); use the coordinator's API",
            type=CODE,
            non_retryable=True,
        )


def _plain(payload: Payload) -> JsonValue:
    """A value that came in clear text: as strict, finite and shallow as a product's answer.

    Bytes, messages and numbers without an end pass Temporal's own converters, and no write could
    ever take them: the run would try its next one for good.
    """
    encoding = payload.metadata.get("encoding")
    if encoding == b"binary/null":
        return None
    if encoding != b"json/plain" or len(payload.data) > LARGEST_PLAIN_BYTES:
        raise ValueError("no JSON, or too much of it")
    return parse_json(payload.data)


def without_refused(failure: Failure) -> Failure:
    """A failure without the details that somebody else wrote: they are no reason to fail a task."""
    kept = Failure()
    kept.CopyFrom(failure)
    one = kept
    while True:
        for details in _details_of(one):
            if any(is_refused(payload) for payload in details.payloads):
                del details.payloads[:]
        if not one.HasField("cause"):
            return kept
        one = one.cause


def _details_of(failure: Failure) -> list[Any]:
    return [
        failure.application_failure_info.details
        if failure.HasField("application_failure_info")
        else failure.canceled_failure_info.details
        if failure.HasField("canceled_failure_info")
        else failure.timeout_failure_info.last_heartbeat_details
        if failure.HasField("timeout_failure_info")
        else failure.reset_workflow_failure_info.last_heartbeat_details
    ]
