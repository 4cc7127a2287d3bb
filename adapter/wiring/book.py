"""The service's `RunBook` over the ledger: owners by reference, hidden runs as absent ones."""

from __future__ import annotations

from collections.abc import Sequence

from activities.errors import LedgerUnavailable
from adapter import api
from adapter.errors import Refused
from adapter.ledger import ActKind, Admission, Event, Inspection, Ledger, RunFilter, RunStatus
from adapter.ledger.reads import EffectView, SignalView, StepView, WaitView
from adapter.wiring.acts import act_view
from adapter.wiring.events import admit_event
from adapter.wiring.inputs import input_check
from adapter.wiring.reading import ReadNotes
from interpreter.contract.effects import VisitRef
from interpreter.contract.records import RunState
from interpreter.contract.runs import Binding

_SCOPE = ""


class LedgerBook:
    """Admits and shows runs; ``binding`` is frozen with every run that is admitted."""

    def __init__(self, ledger: Ledger, binding: Binding) -> None:
        self._ledger = ledger
        self._binding = binding
        self._readers = ReadNotes(ledger.audit)

    async def admit(self, request: api.AdmissionRequest) -> api.Admitted:
        """Commit an admission, or give the run of the same identity."""
        admitted = await self._ledger.admissions.admit(
            Admission(
                owner=self._owner(request.owner),
                scope=_SCOPE,
                workflow=request.workflow,
                idempotency_key=request.key,
                expected_revision=request.revision,
                input=request.input,
                binding=self._binding,
            ),
            input_check(request.input),
        )
        status = await self._ledger.reads.run_status(admitted.run_id, None)
        return api.Admitted(await self._view(status), admitted.created)

    async def admit_event(self, request: api.EventRequest) -> api.Admitted:
        """Commit the admission that an event asks for, or give the run that it has admitted."""
        admitted = await admit_event(self._ledger, self._binding, request)
        status = await self._ledger.reads.run_status(admitted.run_id, None)
        return api.Admitted(await self._view(status), admitted.created)

    async def workflows(self, scope: api.Scope) -> Sequence[api.WorkflowView]:
        """The active workflows that the scope covers."""
        active = await self._ledger.packages.every_active()
        return [
            api.WorkflowView(one.workflow, one.version, one.revision, one.package)
            for one in active
            if scope.covers(one.workflow)
        ]

    async def run(self, run_id: str, scope: api.Scope) -> api.RunView | None:
        """The run, or None if it does not exist or is hidden."""
        status = await self._status(run_id, scope)
        return None if status is None else await self._view(status)

    async def runs(
        self, scope: api.Scope, only: api.RunFilter, cursor: str | None, limit: int
    ) -> api.RunPage:
        """One page of runs, newest first."""
        workflows = None if scope.workflows is None else tuple(sorted(scope.workflows))
        if only.workflow is not None:
            workflows = (only.workflow,) if scope.covers(only.workflow) else ()
        wanted = RunFilter(
            owner=None if scope.owner is None else self._owner(scope.owner),
            workflows=workflows,
            states=None if only.state is None else (only.state,),
        )
        page = await self._ledger.reads.list_runs(wanted, cursor, limit)
        return api.RunPage([await self._view(status) for status in page.runs], page.next)

    async def inspect(self, run_id: str, scope: api.Scope) -> api.Inspection | None:
        """The run in detail, or None."""
        if await self._status(run_id, scope) is None:
            return None
        found = await self._ledger.reads.inspect(run_id, None)
        acts = [act_view(self._ledger, act) for act in await self._ledger.acts.of_run(run_id)]
        return _inspection(found, await self._view(found.run), acts)

    async def events(
        self, run_id: str, scope: api.Scope, after: int, limit: int
    ) -> Sequence[api.EventView] | None:
        """Events after a sequence, or None."""
        if await self._status(run_id, scope) is None:
            return None
        found = await self._ledger.reads.events(run_id, None, after, limit)
        return [_event_view(event) for event in found]

    async def note_read(self, run_id: str, actor: str, what: str) -> None:
        """Journal that a caller is about to be shown what a run carries."""
        await self._readers.note(run_id, actor, what)

    async def ready(self) -> bool:
        """Whether the ledger answers and may admit."""
        if self._ledger.recovery_only:
            return False
        try:
            await self._ledger.packages.every_active()
        except LedgerUnavailable:
            return False
        return True

    async def _view(self, status: RunStatus) -> api.RunView:
        """A run with the acts that would be granted now; only a doubt allows more than a cancel."""
        if status.state.final:
            return _run_view(status, ())
        if not status.uncertain and status.state is not RunState.ATTENTION:
            return _run_view(status, (ActKind.CANCEL.value,))
        allowed = await self._ledger.acts.allowed(status.run_id)
        return _run_view(status, tuple(kind.value for kind in allowed))

    async def _status(self, run_id: str, scope: api.Scope) -> RunStatus | None:
        owner = None if scope.owner is None else self._owner(scope.owner)
        workflows = None if scope.workflows is None else tuple(sorted(scope.workflows))
        try:
            return await self._ledger.reads.run_status(run_id, owner, workflows)
        except Refused as error:
            if error.code == "run.unknown":
                return None
            raise

    def _owner(self, owner: api.Owner) -> str:
        return self._ledger.keyed.owner(owner.issuer, owner.subject)


def _run_view(status: RunStatus, acts: tuple[str, ...]) -> api.RunView:
    return api.RunView(
        run_id=status.run_id,
        workflow=status.workflow,
        version=status.version,
        revision=status.revision,
        state=status.state,
        start=status.start_state,
        admitted_at=status.admitted_at,
        deadline_at=status.deadline_at,
        closed_at=status.closed_at,
        outcome=status.outcome,
        output=status.output,
        failure_code=status.failure_code,
        failure_place=status.failure_place,
        temporal_workflow_id=status.workflow_id,
        temporal_run_id=status.temporal_run_id or "",
        acts=acts,
        under_review=status.under_review,
        erased_at=status.erased_at,
    )


def _inspection(found: Inspection, run: api.RunView, acts: Sequence[api.ActView]) -> api.Inspection:
    return api.Inspection(
        run=run,
        steps=[_step_view(step) for step in found.steps],
        effects=[_effect_view(effect) for effect in found.effects],
        waits=[_wait_view(wait) for wait in found.waits],
        signals=[_signal_view(signal, found.run) for signal in found.signals],
        acts=acts,
    )


def _step_view(step: StepView) -> api.StepView:
    visit = VisitRef("", step.branch, step.node, step.visit)
    return api.StepView(
        visit.id, step.node, step.kind, step.state, step.outlet, step.code, step.recorded_at
    )


def _effect_view(effect: EffectView) -> api.EffectView:
    return api.EffectView(
        id=effect.reference,
        node=_node(effect.reference),
        operation=effect.operation,
        connection=effect.connection,
        state=effect.standing.value,
        code=effect.code,
        attempts=len(effect.attempts) or 1,
        dispatched_at=effect.attempts[0].dispatched_at if effect.attempts else None,
        settled_at=effect.settled_at,
        receipt=effect.receipts[-1].receipt_id if effect.receipts else "",
    )


def _wait_view(wait: WaitView) -> api.WaitView:
    return api.WaitView(
        id=wait.reference,
        node=_node(wait.reference),
        kind=wait.kind,
        opened_at=wait.opened_at,
        due_at=wait.due_at,
        observations=wait.observations,
        observed_at=wait.observed_at,
        resolution=wait.resolution or "",
    )


def _signal_view(signal: SignalView, run: RunStatus) -> api.SignalView:
    return api.SignalView(
        id=signal.id,
        name=signal.name,
        outcome=signal.outcome,
        wait=signal.visit,
        run_closed=run.state.final,
        recorded_at=signal.recorded_at,
        concluded_at=signal.concluded_at,
    )


def _node(reference: str) -> str:
    return reference.rpartition("/")[2].rpartition(":")[0]


def _event_view(event: Event) -> api.EventView:
    return api.EventView(event.sequence, event.type, event.happened_at, event.data)
