"""Recorded histories replay: strictly, sandboxed, and under other hash seeds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import WorkflowHistory
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

from adapter.temporal.payloads import clear_converter
from interpreter.definition.document import Definition
from interpreter.workflow.programs import PROGRAMS
from interpreter.workflow.run import InterpretedRun
from tests.fixtures.sandbox import sandboxed_runner
from tests.interpreter.workflow.paths import PATHS

HISTORIES = Path(__file__).parent / "histories"
NAMES = sorted(p.stem for p in HISTORIES.glob("*.json") if not p.stem.endswith(".definition"))

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


def _recorded(events: list[HistoryEvent]) -> Iterator[tuple[Any, ...]]:
    for event in events:
        if event.HasField("activity_task_scheduled_event_attributes"):
            scheduled = event.activity_task_scheduled_event_attributes
            yield (
                scheduled.activity_type.name,
                scheduled.activity_id,
                [json.loads(p.data) if p.data else None for p in scheduled.input.payloads],
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
        data_converter=clear_converter(),
        namespace="default",
        interceptors=[_Strict()],
        workflow_runner=chosen,
    )
    await replayer.replay_workflow(history)
    if isinstance(chosen, UnsandboxedWorkflowRunner):
        assert _asked == list(_recorded(list(history.events)))


def test_every_path_is_recorded() -> None:
    assert set(PATHS) == set(NAMES)


@pytest.mark.parametrize("seed", ["1", "2", "77"])
def test_histories_replay_under_other_hash_seeds(seed: str) -> None:
    code = "from tests.interpreter.workflow.test_replay import replay_all; replay_all()"
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
                data_converter=clear_converter(),
                namespace="default",
                workflow_runner=UnsandboxedWorkflowRunner(),
            )
            await replayer.replay_workflow(_history(name))

    asyncio.run(replay())
