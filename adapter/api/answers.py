"""From the ledger's views to the service's answers, with links and the controls allowed now."""

from __future__ import annotations

from adapter.access import Caller
from adapter.api.bodies import (
    Act,
    Control,
    Effect,
    Event,
    EventList,
    Execution,
    Links,
    RunInspection,
    RunStatus,
    RunSummary,
    Signal,
    Step,
    Wait,
)
from adapter.api.messages import SignalView
from adapter.api.ports import (
    ActView,
    EffectView,
    EventView,
    Inspection,
    RunView,
    StepView,
    WaitView,
)
from adapter.api.statuses import WORDS


def run_status(run: RunView, caller: Caller) -> RunStatus:
    """How a run stands and what it published, as this caller may act on it."""
    return RunStatus(**dict(run_summary(run, caller)), output=run.output)


def run_summary(run: RunView, caller: Caller) -> RunSummary:
    """How a run stands, without what it published."""
    place = f"/v1/runs/{run.run_id}"
    return RunSummary(
        run_id=run.run_id,
        workflow=run.workflow,
        version=run.version,
        revision=run.revision,
        state=run.state.value,
        status=WORDS[run.state].project,
        start=run.start.value,
        outcome=run.outcome or None,
        failure_code=run.failure_code or None,
        failure_place=run.failure_place or None,
        admitted_at=run.admitted_at,
        deadline_at=run.deadline_at,
        closed_at=run.closed_at,
        under_review=run.under_review,
        erased_at=run.erased_at,
        links=Links(self=place, inspect=f"{place}/inspect", events=f"{place}/events"),
        controls=_controls(run, caller, place),
    )


def _controls(run: RunView, caller: Caller, place: str) -> list[Control]:
    return [
        Control(name=act, method="POST", href=f"{place}/{act}")
        for act in run.acts
        if act in caller.actions
    ]


def act_answer(act: ActView, run_id: str) -> Act:
    """An act, with its own address."""
    return Act(
        id=act.id,
        kind=act.kind,
        effect=act.effect or None,
        actor=act.actor,
        reason=act.reason,
        state=act.state,
        outcome=act.outcome or None,
        code=act.code or None,
        recorded_at=act.recorded_at,
        concluded_at=act.concluded_at,
        href=f"/v1/runs/{run_id}/acts/{act.id}",
    )


def inspection(found: Inspection, status: RunStatus, acts: list[Act]) -> RunInspection:
    """A run in detail, with its status and acts as they are shown."""
    run = found.run
    return RunInspection(
        run=status,
        steps=[_step(step) for step in found.steps],
        effects=[_effect(effect) for effect in found.effects],
        waits=[_wait(wait) for wait in found.waits],
        acts=acts,
        signals=[_signal(signal) for signal in found.signals],
        execution=Execution(
            workflow_id=run.temporal_workflow_id, run_id=run.temporal_run_id or None
        ),
    )


def _step(step: StepView) -> Step:
    return Step(
        id=step.id,
        node=step.node,
        kind=step.kind,
        state=step.state,
        outlet=step.outlet or None,
        code=step.code or None,
        at=step.at,
    )


def _effect(effect: EffectView) -> Effect:
    return Effect(
        id=effect.id,
        node=effect.node,
        operation=effect.operation,
        connection=effect.connection,
        state=effect.state,
        code=effect.code or None,
        attempts=effect.attempts,
        dispatched_at=effect.dispatched_at,
        settled_at=effect.settled_at,
        receipt=effect.receipt or None,
    )


def _wait(wait: WaitView) -> Wait:
    return Wait(
        id=wait.id,
        node=wait.node,
        kind=wait.kind,
        opened_at=wait.opened_at,
        due_at=wait.due_at,
        observations=wait.observations,
        observed_at=wait.observed_at,
        resolution=wait.resolution or None,
    )


def _signal(signal: SignalView) -> Signal:
    return Signal(
        id=signal.id,
        name=signal.name,
        outcome=signal.outcome or None,
        wait=signal.wait or None,
        recorded_at=signal.recorded_at,
        concluded_at=signal.concluded_at,
    )


def event_list(events: list[EventView], after: int) -> EventList:
    """Events and where to go on."""
    return EventList(
        events=[Event(sequence=e.sequence, type=e.type, at=e.at, data=e.data) for e in events],
        next=events[-1].sequence if events else after,
    )
