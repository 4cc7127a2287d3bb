"""Runs that gather much data go on or end in a clear way, through a real continue-as-new."""

from __future__ import annotations

from typing import Any

from interpreter.contract import names
from interpreter.contract.records import RunState
from tests.fixtures.definitions import finish
from tests.interpreter.workflow.test_nudges import moved, moves
from tests.recovery.conftest import READ, SEND, Site, call

_BIG = {"literal": {"collection": "applications", "recordId": "APP-BIG"}}


def reads(first: int, count: int, then: str) -> dict[str, Any]:
    """So many reads of the large record, one after the other."""
    chain = {f"read{n}": call(READ, f"read{n + 1}", _BIG) for n in range(first, first + count)}
    chain[f"read{first + count - 1}"]["outlets"] = {"next": then}
    return chain


def waiting(then: str) -> dict[str, Any]:
    """A wait of ten minutes for a signal."""
    source = {"type": "signal", "signal": "go", "schema": True, "timeoutSeconds": 600}
    return {"kind": "wait", "wait": source, "outlets": {"resumed": then}}


def large_record(site: Site) -> None:
    """A record whose answer is just below what one answer may have."""
    site.pretend.put_record("applications", "APP-BIG", {"notes": "x" * 65_000})


async def handed_on(site: Site, run_id: str) -> None:
    """Have a waiting run continue as new, and then go on."""
    await site.until(run_id, RunState.WAITING)
    handle = await site.handle(run_id)
    first = site.client.get_workflow_handle(
        handle.id, first_execution_run_id=(await handle.describe()).run_id
    )
    await handle.signal(names.HAND_OVER_SIGNAL)
    await moved(site.client, first)
    assert await moves(site.client, first) == 1
    await handle.signal("go", {})


async def test_a_project_s_worth_of_full_answers_is_handed_on(site: Site) -> None:
    large_record(site)
    nodes = {**reads(0, 60, "wait"), "wait": waiting("more"), "more": call(SEND, "done")}
    async with site.worker():
        run_id = await site.start({**nodes, "done": finish()})
        await handed_on(site, run_id)
        await site.until(run_id, RunState.FINISHED)
    assert site.applied() == [1]


async def test_a_run_that_would_keep_too_much_ends_and_what_it_did_stays_done(site: Site) -> None:
    large_record(site)
    chain = {**reads(0, 95, "wait"), "wait": waiting("read95"), **reads(95, 5, "done")}
    async with site.worker():
        run_id = await site.start({"send": call(SEND, "read0"), **chain, "done": finish()})
        await handed_on(site, run_id)
        status = await site.until(run_id, RunState.FAILED, RunState.FINISHED)
        assert status.failure_code == "data-limit"
        await site.ended(run_id)
    assert site.applied() == [1]
    [effect] = [e for e in (await site.inspect(run_id)).effects if e.operation == SEND]
    assert effect.outcome == "accepted"


async def test_an_output_that_nobody_could_be_given_ends_the_run(site: Site) -> None:
    large_record(site)
    nodes = {**reads(0, 1, "done"), "done": finish("done", {"list": [{"step": "read0"}] * 300})}
    async with site.worker():
        run_id = await site.start(nodes)
        status = await site.until(run_id, RunState.FAILED, RunState.FINISHED)
        assert status.failure_code == "mapping.output-size"
        await site.ended(run_id)
