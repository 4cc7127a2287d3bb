"""Payloads and failures as Temporal keeps them."""

from __future__ import annotations

import pytest
from temporalio.api.failure.v1 import Failure
from temporalio.exceptions import ApplicationError

from adapter.temporal.payloads import data_converter
from interpreter.contract.runs import Binding, StartRun

START = StartRun(
    "", "", "1", "sha256:0", {"a": 1}, "2027-01-01T00:00:00Z", "2027-01-02T00:00:00Z",
    binding=Binding({"registry": "remote"}, {"notices": "slow"}),
)  # fmt: skip


def raised(error: Exception) -> Exception:
    """The same error with a stack."""
    with pytest.raises(type(error)) as caught:
        raise error
    return caught.value


@pytest.mark.parametrize(
    ("error", "keeps"), [(ApplicationError("not yet"), False), (KeyError("x"), True)]
)
def test_only_what_nobody_expected_shows_its_stack(error: Exception, keeps: bool) -> None:
    failure = Failure()
    converter = data_converter()
    converter.failure_converter.to_failure(raised(error), converter.payload_converter, failure)
    assert bool(failure.stack_trace) is keeps


async def test_the_start_of_a_run_comes_back_as_it_was() -> None:
    converter = data_converter()
    [back] = await converter.decode(await converter.encode([START]), [StartRun])
    assert back == START


async def test_the_start_is_plain_json_for_who_asks_for_nothing_else() -> None:
    converter = data_converter()
    [shown] = await converter.decode(await converter.encode([START]))
    assert shown["input"] == {"a": 1}
