"""The call book: what a run's definition pins about its nodes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from activities.errors import ActivityError
from adapter.ledger import Ledger
from interpreter.contract.operations import Completion
from interpreter.definition.document import Definition, Operation
from tests.adapter.ledger.words import DEFINITION, MUTATION, PACKAGE, READ, admission

COMPLETION = Completion.model_validate(
    {
        "read": "casework.read-review-request/v1",
        "input": {"id": "/id"},
        "done": {"path": "/state", "in": ["done"]},
        "value": "/result",
        "schema": True,
    }
)
REVIEW = MUTATION.model_copy(update={"completions": {"result": COMPLETION}})
REVIEW_READ = READ.model_copy(update={"id": COMPLETION.read})


def waiting() -> Definition:
    """The small definition with a wait for the call's result."""
    document = DEFINITION.to_json()
    document["operations"] = {
        "send": Operation(connection="casework", contract=REVIEW).to_json(),
        "look": Operation(connection="casework", contract=REVIEW_READ).to_json(),
    }
    wait = {"type": "completion", "call": "send", "completion": "result", "timeoutSeconds": 60}
    outlets = {"completed": "end"}
    document["nodes"]["decision"] = {"kind": "wait", "wait": wait, "outlets": outlets}
    return Definition.model_validate(document)


async def test_a_nodes_policy_stands_over_the_contracts_limits(ledger: Ledger, run_id: str) -> None:
    facts = await ledger.book.call(run_id, "send")
    assert (facts.contract, facts.connection) == (MUTATION, "post")
    assert (facts.limits.attempts, facts.limits.send_budget) == (7, 10.0)


async def test_a_completion_is_read_on_the_connection_of_its_call(ledger: Ledger) -> None:
    definition = waiting()
    package = replace(PACKAGE, digest="sha256:w", definition=definition)
    package = replace(package, labels=package.labels.model_copy(update={"version": "3"}))
    await ledger.packages.apply(package, "deployer")
    asked = admission("key-w", expected_revision=definition.revision)
    run_id = (await ledger.admissions.admit(asked)).run_id
    facts = await ledger.book.observation(run_id, "decision")
    assert (facts.completion, facts.read, facts.connection) == (COMPLETION, REVIEW_READ, "casework")


@pytest.mark.parametrize("node", ["end", "nothing"])
async def test_a_node_that_is_no_call_is_refused(ledger: Ledger, run_id: str, node: str) -> None:
    for ask in (ledger.book.call, ledger.book.observation):
        with pytest.raises(ActivityError) as refusal:
            await ask(run_id, node)
        assert refusal.value.code == "node.unknown"


@pytest.mark.parametrize("run", ["x", "00000000-0000-8000-8000-000000000000"])
async def test_a_run_that_was_not_admitted_has_no_facts(ledger: Ledger, run: str) -> None:
    with pytest.raises(ActivityError) as refusal:
        await ledger.book.call(run, "send")
    assert refusal.value.code == "run.unknown"
