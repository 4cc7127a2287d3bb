"""Products that are more than data: actions, evaluations, external reads, and a deployer's own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from interpreter.contract.effects import ReplyKind
from tests.adapter.simulation.conftest import Simulated, simulate
from tests.adapter.simulation.older import write_older, write_tickets

QUESTIONS = {
    "certain": {"type": "predicate", "instructions": "Is it?"},
    "kind": {"type": "choice", "instructions": "Which?", "criteria": {"a": "A", "b": "B"}},
    "how": {"type": "score", "instructions": "How?", "criteria": ["bad", "fair", "good"]},
}


@pytest.fixture
async def older(tmp_path: Path) -> AsyncIterator[Simulated]:
    """The simulation of the v1alpha1 project."""
    async with simulate(write_older(tmp_path / "older"), tmp_path) as simulated:
        yield simulated


async def _accepted(simulated: Simulated, alias: str, input: Any, key: str = "k") -> Any:
    sent = await simulated.send(alias, input, key)
    assert sent.reply.kind is ReplyKind.ACCEPTED, sent
    return sent.reply.output


async def test_an_evaluation_holds_the_mathematics_of_its_protocol(older: Simulated) -> None:
    for number in range(8):
        input = {"state": {"number": number}, "questions": QUESTIONS}
        output = await _accepted(older, "minds.evaluate-decision", input)
        assert set(output["answers"]) == set(QUESTIONS)


async def test_an_action_takes_every_input_that_the_functions_can_make(older: Simulated) -> None:
    input = {"action": "note-result", "input": {"certainty": 0.5}}
    output = await _accepted(older, "records.invoke-breg-action", input)
    assert output["action"] == "note-result"


async def test_an_external_read_answers_on_the_paths_in_the_functions(older: Simulated) -> None:
    input = {"path": "offices/licensing", "query": {"near": "A-1"}}
    assert (await _accepted(older, "words.external-get", input))["status"] == 200


async def test_every_operation_of_an_older_project_is_accepted(older: Simulated) -> None:
    record = {"collection": "applications", "recordId": "A-1"}
    await _accepted(older, "records.read-record", record)
    message = {"senderProfile": "d", "to": {"email": "a@example.org"}, "content": {"x": 1}}
    await _accepted(older, "notices.submit-message", message)
    assert older.steps == ["look", "tell"]


async def test_a_refusal_of_an_action_is_declared_when_the_author_asks_for_it(
    older: Simulated,
) -> None:
    await older.control(lambda client: client.fail("change=refuse:record-locked"))
    input = {"action": "note-result", "input": {"certainty": 0.5}}
    sent = await older.send("records.invoke-breg-action", input)
    assert (sent.reply.kind, sent.reply.code) == (ReplyKind.DECLARED_REFUSAL, "record-locked")


async def test_operations_of_a_deployers_catalogue_are_simulated_and_completed(
    tmp_path: Path,
) -> None:
    project, catalogue = write_tickets(tmp_path / "tickets")
    async with simulate(project, tmp_path, catalogue=[catalogue]) as tickets:
        opened = await _accepted(tickets, "open", {"text": "Help"})
        read = {"ticket": opened["ticket"]["number"]}
        pending = await _accepted(tickets, "crm.read-ticket/v1", read)
        assert pending.get("state", {}).get("word") != "closed"
        await tickets.control(lambda client: client.complete(value="Solved"))
        output = await _accepted(tickets, "crm.read-ticket/v1", read)
    assert (output["state"], output["resolution"]) == ({"word": "closed"}, "Solved")
