"""Recorded histories replay: strictly, sandboxed, and under other hash seeds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowHistory
from temporalio.converter import DataConverter, WorkflowSerializationContext
from temporalio.worker import (
    Interceptor,
    Replayer,
    StartActivityInput,
    UnsandboxedWorkflowRunner,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
    WorkflowRunner,
)

from adapter.crypto import KeyRing
from adapter.temporal.codec import SealingCodec
from adapter.temporal.payloads import sealed_converter
from interpreter.definition.document import Definition
from interpreter.workflow.programs import PROGRAMS
from interpreter.workflow.run import InterpretedRun
from tests.fixtures.clear import clear_converter
from tests.fixtures.sandbox import sandboxed_runner
from tests.interpreter.workflow.paths import PATHS, SEALED
from tests.interpreter.workflow.record import BODIES, recorded_vault

HISTORIES = Path(__file__).parent / "histories"
NAMES = sorted(
    p.stem
    for p in HISTORIES.glob("*.json")
    if not p.stem.endswith(".definition") and p.name != BODIES.name
)

_asked: list[tuple[Any, ...]] = []


class _Strict(Interceptor):
    """Notes what the workflow asks for, since a replay alone compares types and ids only."""

    def workflow_interceptor_class(
        self, input: WorkflowInterceptorClassInput
    ) -> type[WorkflowInboundInterceptor]:
        """The inbound half, which only sets up the outbound one."""
        return _Inbound


class _Inbound(WorkflowInboundInterceptor):
    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        self.next.init(_Outbound(outbound))


class _Outbound(WorkflowOutboundInterceptor):
    def start_activity(self, input: StartActivityInput) -> Any:
        limit = input.start_to_close_timeout
        _asked.append(
            (input.activity, input.activity_id, list(input.args), limit and limit.total_seconds())
        )
        return self.next.start_activity(input)


def _history(name: str) -> WorkflowHistory:
    definition = Definition.read(json.loads((HISTORIES / f"{name}.definition.json").read_bytes()))
    PROGRAMS.put(definition, 1)
    text = (HISTORIES / f"{name}.json").read_text()
    identity = json.loads(text)["events"][0]["workflowExecutionStartedEventAttributes"]
    return WorkflowHistory.from_json(identity["workflowId"], text)


def _converter(name: str) -> DataConverter:
    if name not in SEALED:
        return clear_converter()
    return sealed_converter(SealingCodec(recorded_vault().vault()))


async def _recorded(
    history: WorkflowHistory, converter: DataConverter
) -> AsyncIterator[tuple[Any, ...]]:
    context = WorkflowSerializationContext("default", history.workflow_id)
    for event in history.events:
        if event.HasField("activity_task_scheduled_event_attributes"):
            scheduled = event.activity_task_scheduled_event_attributes
            yield (
                scheduled.activity_type.name,
                scheduled.activity_id,
                await converter.with_context(context).decode(scheduled.input.payloads),
                scheduled.start_to_close_timeout.ToTimedelta().total_seconds(),
            )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("runner", [UnsandboxedWorkflowRunner, sandboxed_runner])
async def test_a_recorded_history_replays_with_the_same_commands(name: str, runner: Any) -> None:
    history = _history(name)
    _asked.clear()
    chosen: WorkflowRunner = runner()
    replayer = Replayer(
        workflows=[InterpretedRun],
        data_converter=_converter(name),
        namespace="default",
        interceptors=[_Strict()],
        workflow_runner=chosen,
    )
    await replayer.replay_workflow(history)
    if isinstance(chosen, UnsandboxedWorkflowRunner):
        assert _asked == [asked async for asked in _recorded(history, _converter(name))]


def test_every_path_is_recorded() -> None:
    assert {*PATHS, *SEALED} == set(NAMES)


async def test_a_sealed_recording_does_not_replay_without_its_keys() -> None:
    vault = recorded_vault()
    vault.keys = KeyRing.generate()
    replayer = Replayer(
        workflows=[InterpretedRun],
        data_converter=sealed_converter(SealingCodec(vault.vault())),
        namespace="default",
    )
    with pytest.raises(RuntimeError, match="belongs to another key"):
        await replayer.replay_workflow(_history("sealed-reviewed"))


@pytest.mark.parametrize("seed", ["1", "2", "77"])
def test_histories_replay_under_other_hash_seeds(seed: str) -> None:
    # The SDK's threads may crash an interpreter that winds down, long after all is replayed.
    code = (
        "import os; from tests.interpreter.workflow.test_replay import replay_all; "
        "replay_all(); os._exit(0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def replay_all() -> None:
    """Replay every history in this process."""
    import asyncio

    async def replay() -> None:
        for name in NAMES:
            replayer = Replayer(
                workflows=[InterpretedRun],
                data_converter=_converter(name),
                namespace="default",
                workflow_runner=UnsandboxedWorkflowRunner(),
            )
            await replayer.replay_workflow(_history(name))

    asyncio.run(replay())
