"""Admission: one key, one run, in one transaction; then the binding to its Temporal execution."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from psycopg.errors import UniqueViolation

from activities.errors import ActivityError
from adapter.crypto import Keyed
from adapter.errors import Refused, Unavailable
from adapter.ledger.admission_rules import (
    ActivePackage,
    Admission,
    AdmissionFacts,
    recovery_only_refusal,
    require_active,
)
from adapter.ledger.definitions import Definitions
from adapter.ledger.entry import Entry, RunRow, lock_question, unknown_execution, unknown_run
from adapter.ledger.pool import Pool, Question, Transaction, Write
from adapter.ledger.queries import queries
from adapter.ledger.run_keys import NewRunKey, RunKeys
from interpreter.contract.records import RunState, StartState
from interpreter.contract.runs import Binding, StartRun
from interpreter.contract.values import JsonValue
from interpreter.definition.document import Definition

_SQL = queries("admissions")


@dataclass(frozen=True, slots=True)
class Admitted:
    """The run of a key. ``start`` is what Temporal has yet to be given, None once it was."""

    run_id: str
    created: bool
    start: StartRun | None


@dataclass(frozen=True, slots=True)
class _New:
    """A run that is being admitted, with its key."""

    admitted: Admitted
    data_key: NewRunKey


@dataclass(frozen=True, slots=True)
class PendingStart:
    """An execution whose start was not confirmed."""

    run_id: str
    execution: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class KnownStart:
    """What a start identity was spent on."""

    run_id: str
    revision: str
    input_digest: str
    start_state: str
    execution: int


@dataclass(frozen=True, slots=True)
class StartFacts:
    """What the start of an execution is made of."""

    run_id: str
    workflow: str
    version: str
    revision: str
    binding: dict[str, JsonValue]
    execution: int
    admitted_at: datetime
    deadline_at: datetime
    sealed_input: bytes
    wrapped_key: bytes | None
    held: bool


@dataclass(frozen=True, slots=True)
class ExecutionStart:
    """How far an execution's start has come."""

    now: datetime
    start_state: str
    temporal_run_id: str | None


class Admissions:
    """Admits runs and follows their start; LedgerUnavailable when a write's fate is not known."""

    def __init__(
        self,
        pool: Pool,
        run_keys: RunKeys,
        keyed: Keyed,
        definitions: Definitions,
        *,
        recovery_only: bool = False,
    ) -> None:
        self._pool = pool
        self._recovery_only = recovery_only
        self._run_keys = run_keys
        self._keyed = keyed
        self._definitions = definitions

    async def admit(
        self, admission: Admission, check: Callable[[Definition], None] | None = None
    ) -> Admitted:
        """The run of the admission's key, admitted now if the key is new.

        A known key is looked up before anything else, a hold included. ``check`` may refuse the
        input of a new run against its definition. Raises Refused: ``idempotency.key-reused``
        (409), ``workflow.unknown`` (404), ``revision.not-active`` (409), ``admission.held`` (409),
        ``admission.recovery-only`` (409).
        """
        identity, input_digest = self._identified(admission)
        definition = await self._expected(admission) if check else None

        async def work(transaction: Transaction) -> _New | KnownStart:
            known, found = await transaction.both(
                _known_question(identity), _facts_question(admission)
            )
            if known is not None:
                return known
            if self._recovery_only:
                raise recovery_only_refusal()
            facts = require_active(admission, found)
            if check is not None and definition is not None:
                check(definition)
            return await self._admit(transaction, admission, facts, identity, input_digest)

        try:
            answer = await self._pool.run(work)
        except UniqueViolation:
            # An equal start was faster: now its run is known.
            answer = await self._pool.run(work)
        if isinstance(answer, _New):
            # Not before the commit stands: the same run, admitted elsewhere, has another key.
            self._run_keys.keep(answer.admitted.run_id, answer.data_key)
            return answer.admitted
        return await self._again(admission, answer, input_digest)

    async def find(self, admission: Admission) -> Admitted | None:
        """The run that a key has admitted, or None; Refused ``idempotency.key-reused``."""
        identity, input_digest = self._identified(admission)
        known = await self._pool.one(_known_question(identity))
        return None if known is None else await self._again(admission, known, input_digest)

    def _identified(self, admission: Admission) -> tuple[str, str]:
        """The start identity, and what tells two requests of one key apart."""
        identity = self._keyed.start_identity(
            admission.owner,
            admission.scope,
            admission.workflow,
            admission.idempotency_key,
            admission.successor,
        )
        compared = admission.input if admission.content is None else admission.content
        return identity, self._keyed.input_digest(identity, compared)

    async def start_request(self, run_id: str) -> StartRun:
        """What starts a run's latest execution in Temporal.

        Raises ActivityError ``run.unknown``, and Unavailable ``start.held`` under a restore hold.
        """
        facts = await self._start_facts(run_id)
        if facts.held:
            raise Unavailable(
                "start.held",
                "a restore hold keeps every execution from starting",
                place=run_id,
                remedy="nothing is lost: a worker starts it once the hold is released",
            )
        return self._start_of(facts)

    async def _start_facts(self, run_id: str) -> StartFacts:
        facts = await self._pool.one(Question(_SQL["start_facts"], {"run": run_id}, StartFacts))
        if facts is None:
            raise unknown_run(run_id)
        return facts

    def _start_of(self, facts: StartFacts) -> StartRun:
        run_id = facts.run_id
        sealer = self._run_keys.sealer(run_id, facts.wrapped_key)
        return StartRun(
            facts.run_id,
            facts.workflow,
            facts.version,
            facts.revision,
            sealer.open(facts.sealed_input, "input"),
            instant(facts.admitted_at),
            instant(facts.deadline_at),
            facts.execution,
            Binding(**facts.binding),
        )

    async def bind_started(self, run_id: str, execution: int, temporal_run_id: str) -> None:
        """Record that Temporal runs an execution; idempotent."""

        async def work(transaction: Transaction) -> None:
            run, start = await _start(transaction, run_id, execution)
            state = StartState(start.start_state)
            if state is StartState.STARTED and start.temporal_run_id == temporal_run_id:
                return
            entry = Entry(run, start.now)
            if run.state in (RunState.QUEUED, RunState.RECOVERY_REQUIRED):
                entry.stand(RunState.RUNNING)
            if not run.closed:
                # A short run may end before its start is bound; its end stays its last event.
                entry.event("run.started", execution=execution, temporalRunId=temporal_run_id)
            entry.journal("run.started", {}, execution=execution)
            keys = {"run": run_id, "execution": execution, "now": start.now}
            bound = Write(_SQL["bind_started"], {**keys, "temporal_run_id": temporal_run_id})
            await transaction.commit(bound, *entry.writes())

        await self._pool.run(work)

    async def start_failed(self, run_id: str, execution: int, code: str) -> None:
        """Record that Temporal refused an execution for good; the run needs a person."""

        async def work(transaction: Transaction) -> None:
            run, start = await _start(transaction, run_id, execution)
            if start.start_state != StartState.PENDING:
                return
            entry = Entry(run, start.now)
            entry.stand(RunState.RECOVERY_REQUIRED)
            entry.event("run.start-failed", execution=execution, code=code)
            entry.journal("run.start-failed", {}, execution=execution, code=code)
            keys = {"run": run_id, "execution": execution, "code": code}
            await transaction.commit(Write(_SQL["start_failed"], keys), *entry.writes())

        await self._pool.run(work)

    async def pending_starts(self, older_than: float, limit: int = 100) -> list[PendingStart]:
        """Starts not confirmed for ``older_than`` seconds, oldest first."""
        parameters = {"older_than": timedelta(seconds=older_than), "limit": limit}
        return await self._pool.ask(Question(_SQL["pending_starts"], parameters, PendingStart))

    async def _expected(self, admission: Admission) -> Definition | None:
        """The definition that a new run would have; None where the admission will be refused."""
        try:
            definition = await self._definitions.get(admission.expected_revision)
        except ActivityError as error:
            if error.code != "revision.unknown":
                raise
            return None
        return definition if definition.id == admission.workflow else None

    async def _again(self, admission: Admission, known: KnownStart, input_digest: str) -> Admitted:
        revision = known.revision if admission.content is not None else admission.expected_revision
        if (known.revision, known.input_digest) != (revision, input_digest):
            raise Refused(
                "idempotency.key-reused",
                "this key was used for another revision or input",
                place="Idempotency-Key",
                remedy="repeat the first request unchanged, or take a new key",
            )
        pending = known.start_state == StartState.PENDING
        start = self._start_of(await self._start_facts(known.run_id)) if pending else None
        return Admitted(known.run_id, False, start)

    async def _admit(
        self,
        transaction: Transaction,
        admission: Admission,
        facts: ActivePackage,
        identity: str,
        input_digest: str,
    ) -> _New:
        revision, version = facts.revision, facts.version
        deadline_at = facts.now + timedelta(seconds=facts.deadline_seconds)
        run_id = self._keyed.run_id(identity)
        key_version = self._keyed.product_key_version
        run = _admitted_row(admission, run_id, revision, version, deadline_at, key_version)
        data_key = self._run_keys.new(run_id)
        entry = Entry(run, facts.now)
        by: dict[str, JsonValue] = {"trigger": admission.trigger} if admission.trigger else {}
        told = {"workflow": run.workflow, "revision": revision, **by}
        entry.event("run.admitted", version=version, **told)
        entry.journal("run.admitted", {"owner": run.owner}, **told)
        admitted = {
            "run": run_id,
            "identity": identity,
            "owner": run.owner,
            "scope": run.scope,
            "workflow": run.workflow,
            "version": version,
            "revision": revision,
            "package": facts.package,
            "binding": json.dumps(asdict(admission.binding)),
            "key_version": key_version,
            "input_digest": input_digest,
            "sealed_input": data_key.sealer.seal(admission.input, "input"),
            "wrapped_key": data_key.wrapped,
            "now": facts.now,
            "deadline_at": deadline_at,
        }
        await transaction.commit(Write(_SQL["insert_run"], admitted), *entry.writes())
        start = StartRun(
            run_id,
            run.workflow,
            version,
            revision,
            admission.input,
            instant(facts.now),
            instant(deadline_at),
            binding=admission.binding,
        )
        return _New(Admitted(run_id, True, start), data_key)


def instant(at: datetime) -> str:
    """RFC 3339 in UTC with milliseconds."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _admitted_row(
    admission: Admission,
    run_id: str,
    revision: str,
    version: str,
    deadline_at: datetime,
    key_version: int,
) -> RunRow:
    return RunRow(
        id=run_id,
        owner=admission.owner,
        scope=admission.scope,
        workflow=admission.workflow,
        version=version,
        revision=revision,
        state=RunState.QUEUED.value,
        execution=1,
        deadline_at=deadline_at,
        cancel_requested_at=None,
        key_version=key_version,
        event_sequence=0,
        journal_sequence=0,
        journal_head=b"",
        held=False,
    )


def _known_question(identity: str) -> Question[KnownStart]:
    return Question(_SQL["known_start"], {"identity": identity}, KnownStart)


def _facts_question(admission: Admission) -> Question[AdmissionFacts]:
    return Question(_SQL["admission_facts"], {"workflow": admission.workflow}, AdmissionFacts)


async def _start(
    transaction: Transaction, run_id: str, execution: int
) -> tuple[RunRow, ExecutionStart]:
    keys = {"run": run_id, "execution": execution}
    asked = Question(_SQL["execution_start"], keys, ExecutionStart)
    run, start = await transaction.both(lock_question(run_id), asked)
    if run is None:
        raise unknown_run(run_id)
    if start is None:
        raise unknown_execution(run_id, execution)
    return run, start
