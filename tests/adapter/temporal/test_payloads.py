"""Starts, failures and foreign details as Temporal keeps them."""

from __future__ import annotations

import pytest
from temporalio.api.failure.v1 import Failure
from temporalio.converter import DataConverter, WorkflowSerializationContext
from temporalio.exceptions import ApplicationError, CancelledError, FailureError, TimeoutError

from adapter.temporal.codec import SealingCodec
from adapter.temporal.payloads import sealed_converter
from interpreter.contract.runs import Binding, StartRun
from tests.adapter.temporal.test_codec import RUN, clear
from tests.fixtures.clear import clear_converter
from tests.fixtures.vault import MemoryVault

START = StartRun(
    "", "", "1", "sha256:0", {"a": 1}, "2027-01-01T00:00:00Z", "2027-01-02T00:00:00Z",
    binding=Binding({"registry": "remote"}, {"notices": "slow"}, plain_signals=False),
)  # fmt: skip
CONVERTERS = [
    clear_converter(),
    sealed_converter(SealingCodec(MemoryVault().vault())),
]


def raised(error: Exception) -> Exception:
    """The same error with a stack."""
    with pytest.raises(type(error)) as caught:
        raise error
    return caught.value


async def sealed_failure(error: Exception) -> tuple[Failure, BaseException]:
    """A failure as a history has it, and as it is read from there."""
    memory = MemoryVault()
    memory.admit(RUN)
    converter = sealed_converter(SealingCodec(memory.vault()))
    there = converter.with_context(WorkflowSerializationContext("default", f"permit/{RUN}/1"))
    failure, kept = Failure(), Failure()
    await there.encode_failure(error, failure)
    kept.CopyFrom(failure)
    return kept, await there.decode_failure(failure)


@pytest.mark.parametrize(
    ("error", "keeps"), [(ApplicationError("not yet"), False), (KeyError("x"), True)]
)
async def test_only_what_nobody_expected_has_its_stack(error: Exception, keeps: bool) -> None:
    _, back = await sealed_failure(raised(error))
    assert isinstance(back, FailureError)
    assert back.failure is not None
    assert bool(back.failure.stack_trace) is keeps


async def test_the_words_of_a_failure_and_its_causes_are_sealed_and_its_code_is_not() -> None:
    try:
        raise ApplicationError("Ada is not known", {"name": "Ada"}, type="refused") from ValueError(
            "Ada"
        )
    except ApplicationError as error:
        kept, back = await sealed_failure(error)
    assert b"Ada" not in kept.SerializeToString()
    assert kept.application_failure_info.type == "refused"
    assert isinstance(back, ApplicationError)
    assert (back.message, back.details, str(back.cause)) == (
        "Ada is not known",
        ({"name": "Ada"},),
        "ValueError: Ada",
    )


@pytest.mark.parametrize("kind", ["application", "canceled", "timeout"])
async def test_details_that_a_stranger_wrote_are_left_out(kind: str) -> None:
    failure = Failure(message="by hand")
    {
        "application": failure.application_failure_info.details,
        "canceled": failure.canceled_failure_info.details,
        "timeout": failure.timeout_failure_info.last_heartbeat_details,
    }[kind].payloads.append(clear())
    for converter in CONVERTERS[1:]:
        back = await converter.decode_failure(failure)
        assert isinstance(back, ApplicationError | CancelledError | TimeoutError)
        details = back.last_heartbeat_details if isinstance(back, TimeoutError) else back.details
        assert list(details) == []


async def test_words_that_a_stranger_wrote_are_no_reason_to_fail() -> None:
    failure = Failure(message="Encoded failure")
    failure.application_failure_info.type = "x"
    failure.encoded_attributes.CopyFrom(clear(b'{"message":"hello"}'))
    assert isinstance(await CONVERTERS[1].decode_failure(failure), ApplicationError)


@pytest.mark.parametrize("converter", CONVERTERS)
async def test_the_start_of_a_run_comes_back_as_it_was(converter: DataConverter) -> None:
    [back] = await converter.decode(await converter.encode([START]), [StartRun])
    assert back == START


@pytest.mark.parametrize("converter", CONVERTERS)
async def test_the_start_is_plain_json_for_who_asks_for_nothing_else(
    converter: DataConverter,
) -> None:
    [shown] = await converter.decode(await converter.encode([START]))
    assert shown["input"] == {"a": 1}
