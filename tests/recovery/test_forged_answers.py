"""Failures and values that no SDK writes, sent to real servers: none of them wedges a run."""

from __future__ import annotations

import base64

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.common.v1 import Payload, Payloads
from temporalio.api.failure.v1 import (
    ApplicationFailureInfo,
    CanceledFailureInfo,
    Failure,
    TimeoutFailureInfo,
)
from temporalio.api.workflowservice.v1 import RespondActivityTaskFailedByIdRequest

from interpreter.contract.records import RunState
from tests.fixtures.definitions import finish
from tests.recovery.conftest import ONE_MESSAGE, SEND, Site
from tests.recovery.test_signals import PAID
from tests.recovery.test_strangers import execution, paid, raw_signal
from tests.recovery.test_temporal_tools import asked

_WORD = Payloads(payloads=[Payload(metadata={"encoding": b"junk"}, data=b'"ACTIVITY_ID_UNKNOWN"')])
_NO_SUCH_NUMBER: int = 99
FAILURES = {
    "details-of-no-kind": Failure(
        application_failure_info=ApplicationFailureInfo(non_retryable=True, details=_WORD)
    ),
    "a-category-of-nobody": Failure(
        application_failure_info=ApplicationFailureInfo(
            non_retryable=True,
            category=_NO_SUCH_NUMBER,  # type: ignore[arg-type]
        )
    ),
    "a-delay-without-end": Failure(
        application_failure_info=ApplicationFailureInfo(
            non_retryable=True, next_retry_delay=Duration(seconds=300_000_000_000)
        )
    ),
    "cancelled-in-no-words": Failure(canceled_failure_info=CanceledFailureInfo(details=_WORD)),
    "a-cause-that-is-none": Failure(
        application_failure_info=ApplicationFailureInfo(non_retryable=True),
        cause=Failure(
            timeout_failure_info=TimeoutFailureInfo(
                timeout_type=_NO_SUCH_NUMBER  # type: ignore[arg-type]
            )
        ),
    ),
}
ANYTHING = {
    "wait": {
        "kind": "wait",
        "wait": {"type": "signal", "signal": "paid", "schema": True, "timeoutSeconds": 99},
        "outlets": {"resumed": "done"},
    },
    "done": finish("done", {"step": "wait"}),
}


@pytest.mark.parametrize("name", FAILURES)
async def test_a_failure_that_can_not_be_read_is_resolved(site: Site, name: str) -> None:
    site.pretend.fault(SEND, "slow", seconds=1.5)
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await asked(site)
        request = RespondActivityTaskFailedByIdRequest(
            namespace="default",
            workflow_id=await execution(site, run_id),
            activity_id="main/send:1:1",
            failure=FAILURES[name],
        )
        await site.client.workflow_service.respond_activity_task_failed_by_id(request)
        await site.until(run_id, RunState.FINISHED)
        await site.ended(run_id)
    assert (site.applied(), len(site.keys())) == ([1], 1)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("json/plain", '{"amount": NaN}'),
        ("json/plain", '{"amount": 1e999}'),
        ("json/plain", '{"amount": %s}' % ("[" * 400 + "]" * 400)),
        ("json/plain", '{"amount": "%s"}' % ("x" * 65_536)),
        ("binary/plain", "bytes"),
        ("json/protobuf", "{}"),
        ("junk", "1"),
    ],
)
async def test_a_signal_of_what_nobody_can_keep_is_dropped(
    site: Site, encoding: str, text: str
) -> None:
    metadata = {"encoding": encoding, "messageType": "temporal.api.common.v1.Payload"}
    written = {name: base64.b64encode(value.encode()).decode() for name, value in metadata.items()}
    async with site.worker():
        run_id = await site.start(PAID if encoding == "json/plain" else ANYTHING)
        await site.until(run_id, RunState.WAITING)
        data = base64.b64encode(text.encode()).decode()
        await raw_signal(site, run_id, {"metadata": written, "data": data})
        assert await paid(site, run_id, {"amount": 2}) == "completed"
        await site.until(run_id, RunState.FINISHED)
        await site.ended(run_id)
        assert (await site.status(run_id)).output == {"amount": 2}
