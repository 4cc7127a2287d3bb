"""Admission: one key is one run, and its start is followed until Temporal has it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from activities.errors import ActivityError
from adapter.errors import Refused
from adapter.ledger import Admission, Ledger
from interpreter.contract.records import Closing, RunState, StartState
from interpreter.contract.runs import Binding
from tests.adapter.ledger.words import DEFINITION, admission

Sql = Callable[..., Awaitable[list[Any]]]


async def refused(ledger: Ledger, asked: Admission) -> Refused:
    with pytest.raises(Refused) as refusal:
        await ledger.admissions.admit(asked)
    return refusal.value


async def test_a_new_key_admits_a_run_with_its_first_event(ledger: Ledger) -> None:
    admitted = await ledger.admissions.admit(admission())
    status = await ledger.reads.run_status(admitted.run_id, "owner-a")
    assert admitted.created
    assert (status.state, status.start_state) == (RunState.QUEUED, StartState.PENDING)
    assert (status.deadline_at - status.admitted_at).total_seconds() == DEFINITION.deadline_seconds
    assert [e.type for e in await ledger.reads.events(status.run_id, None)] == ["run.admitted"]


async def test_the_same_key_revision_and_input_is_the_same_run(ledger: Ledger) -> None:
    first = await ledger.admissions.admit(admission(input={"a": 1, "b": 2}))
    again = await ledger.admissions.admit(admission(input={"b": 2, "a": 1}))
    assert (again.run_id, again.created, again.start) == (first.run_id, False, first.start)


async def test_equal_starts_at_once_are_one_run(ledger: Ledger, sql: Sql) -> None:
    starts = [ledger.admissions.admit(admission()) for _ in range(6)]
    admitted = await asyncio.gather(*starts)
    assert len({one.run_id for one in admitted}) == 1
    assert [one.created for one in admitted].count(True) == 1
    assert await sql("select count(*) from coordinator.runs") == [(1,)]


@pytest.mark.parametrize(
    "changes", [{"input": {"name": "Eve"}}, {"expected_revision": "sha256:other"}]
)
async def test_a_key_used_for_something_else_is_refused(
    ledger: Ledger, changes: dict[str, Any]
) -> None:
    await ledger.admissions.admit(admission())
    refusal = await refused(ledger, admission(**changes))
    assert (refusal.code, refusal.status) == ("idempotency.key-reused", 409)
    assert "Eve" not in str(refusal)


@pytest.mark.parametrize("changes", [{"owner": "owner-b"}, {"scope": "tenant-b"}, {"successor": 1}])
async def test_the_same_key_of_another_caller_is_another_run(
    ledger: Ledger, changes: dict[str, Any]
) -> None:
    first = await ledger.admissions.admit(admission())
    assert (await ledger.admissions.admit(admission(**changes))).run_id != first.run_id


async def test_a_revision_that_is_not_active_is_refused_with_the_one_that_is(
    ledger: Ledger,
) -> None:
    refusal = await refused(ledger, admission(expected_revision="sha256:other"))
    assert (refusal.code, refusal.status) == ("revision.not-active", 409)
    assert refusal.place == "/revision"
    assert DEFINITION.revision in refusal.remedy


async def test_an_unknown_workflow_is_refused(ledger: Ledger) -> None:
    refusal = await refused(ledger, admission(workflow="nothing"))
    assert (refusal.code, refusal.status) == ("workflow.unknown", 404)


async def test_a_withdrawn_workflow_admits_nothing(ledger: Ledger) -> None:
    await ledger.packages.withdraw(DEFINITION.id, "operator")
    assert (await refused(ledger, admission())).code == "revision.not-active"


@pytest.mark.parametrize("hold", ["restore_hold", "admissions_hold"])
async def test_a_hold_keeps_new_runs_out_and_knows_the_old_ones(
    ledger: Ledger, sql: Sql, hold: str
) -> None:
    first = await ledger.admissions.admit(admission())
    await sql(f"update coordinator.control set {hold} = true")
    assert (await ledger.admissions.admit(admission())).run_id == first.run_id
    assert (await refused(ledger, admission("key-2"))).code == "admission.held"


async def test_a_known_key_is_looked_up_before_its_input_is_checked(ledger: Ledger) -> None:
    def check(definition: object) -> None:
        raise Refused("input.invalid", "not a fit")

    with pytest.raises(Refused, match="not a fit"):
        await ledger.admissions.admit(admission(), check)
    first = await ledger.admissions.admit(admission())
    assert (await ledger.admissions.admit(admission(), check)).run_id == first.run_id


async def test_nothing_of_a_refused_admission_is_written(ledger: Ledger, sql: Sql) -> None:
    await refused(ledger, admission(expected_revision="sha256:other"))
    for table in ("runs", "idempotency_keys", "inputs", "executions", "events"):
        assert await sql(f"select count(*) from coordinator.{table}") == [(0,)]


async def test_a_start_request_holds_what_was_frozen_at_admission(ledger: Ledger) -> None:
    binding = Binding({"post": "remote"}, {"post": "own-queue"})
    admitted = await ledger.admissions.admit(admission(binding=binding))
    start = await ledger.admissions.start_request(admitted.run_id)
    assert start == admitted.start
    assert (start.input, start.binding, start.version) == ({"name": "Ada"}, binding, "1.0.0")
    assert start.admitted_at.endswith("Z")


async def test_a_started_run_is_bound_once_and_has_nothing_to_start(ledger: Ledger) -> None:
    run_id = (await ledger.admissions.admit(admission())).run_id
    for _ in range(2):
        await ledger.admissions.bind_started(run_id, 1, "temporal-1")
    status = await ledger.reads.run_status(run_id, None)
    assert (status.state, status.start_state) == (RunState.RUNNING, StartState.STARTED)
    assert status.temporal_run_id == "temporal-1"
    assert status.last_event == 2
    assert (await ledger.admissions.admit(admission())).start is None


async def test_a_run_that_ended_before_it_was_bound_keeps_its_end_as_last_event(
    ledger: Ledger,
) -> None:
    run_id = (await ledger.admissions.admit(admission())).run_id
    await ledger.runs.close(run_id, 1, Closing(RunState.FINISHED, 1, "done"))
    await ledger.admissions.bind_started(run_id, 1, "temporal-1")
    status = await ledger.reads.run_status(run_id, None)
    assert (status.state, status.start_state) == (RunState.FINISHED, StartState.STARTED)
    assert (await ledger.reads.events(run_id, None))[-1].type == "run.finished"


async def test_a_start_that_temporal_refused_needs_a_person(ledger: Ledger) -> None:
    run_id = (await ledger.admissions.admit(admission())).run_id
    await ledger.admissions.start_failed(run_id, 1, "namespace-not-found")
    status = await ledger.reads.run_status(run_id, None)
    assert status.state is RunState.RECOVERY_REQUIRED
    assert status.start_state is StartState.FAILED
    await ledger.admissions.bind_started(run_id, 1, "temporal-1")
    assert (await ledger.reads.run_status(run_id, None)).state is RunState.RUNNING


async def test_a_started_run_can_not_fail_to_start(ledger: Ledger, run_id: str) -> None:
    await ledger.admissions.start_failed(run_id, 1, "late")
    assert (await ledger.reads.run_status(run_id, None)).start_state is StartState.STARTED


async def test_pending_starts_are_found_once_they_are_old_enough(
    ledger: Ledger, run_id: str
) -> None:
    pending = (await ledger.admissions.admit(admission("key-2"))).run_id
    assert await ledger.admissions.pending_starts(older_than=60) == []
    found = await ledger.admissions.pending_starts(older_than=0)
    assert [(one.run_id, one.execution) for one in found] == [(pending, 1)]


async def test_an_absent_run_can_not_be_started(ledger: Ledger) -> None:
    absent = "00000000-0000-8000-8000-000000000000"
    for work in (
        ledger.admissions.start_request(absent),
        ledger.admissions.bind_started(absent, 1, "t"),
    ):
        with pytest.raises(ActivityError) as refusal:
            await work
        assert refusal.value.code == "run.unknown"
