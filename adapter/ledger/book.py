"""``CallBook`` over the ledger: what a run's definition pins about its nodes."""

from __future__ import annotations

from typing import TypeVar

from activities.errors import ActivityError
from activities.ports import CallFacts, Limits, ObservationFacts
from adapter.ledger.definitions import Definitions
from adapter.ledger.revisions import Revisions
from interpreter.contract.operations import OperationContract
from interpreter.definition.document import Definition, Operation
from interpreter.definition.nodes import CallNode, ForCompletion, ForSignal, Policy, WaitNode

Number = TypeVar("Number", int, float)


class Book:
    """Facts about nodes: neither a run's revision nor a revision's content ever changes."""

    def __init__(self, revisions: Revisions, definitions: Definitions) -> None:
        self._revisions = revisions
        self._definitions = definitions

    async def call(self, run_id: str, node: str) -> CallFacts:
        """Facts of a call node; ActivityError ``run.unknown`` or ``node.unknown``."""
        definition = await self.definition(run_id)
        found = _call_node(definition, node)
        operation = _operation(definition, found)
        limits = limits_of(found.policy, operation.contract)
        return CallFacts(operation.contract, operation.connection, limits)

    async def observation(self, run_id: str, node: str) -> ObservationFacts:
        """Facts of a completion wait node; the same errors.

        The source is read on the connection of the call that is waited for, with the read
        operation that the definition pins beside it.
        """
        definition = await self.definition(run_id)
        wait = definition.nodes.get(node)
        if not isinstance(wait, WaitNode) or not isinstance(wait.wait, ForCompletion):
            raise _unknown_node(node, "completion wait")
        operation = _operation(definition, _call_node(definition, wait.wait.call))
        completion = operation.contract.completions.get(wait.wait.completion)
        if completion is None:
            raise _unknown_node(node, "declared completion")
        for pinned in definition.operations.values():
            if pinned.contract.id == completion.read:
                return ObservationFacts(completion, pinned.contract, operation.connection)
        raise _unknown_node(node, "pinned read operation")

    async def signal_wait(self, run_id: str, node: str) -> ForSignal:
        """What a signal wait node waits for; the same errors."""
        wait = (await self.definition(run_id)).nodes.get(node)
        if not isinstance(wait, WaitNode) or not isinstance(wait.wait, ForSignal):
            raise _unknown_node(node, "signal wait")
        return wait.wait

    async def definition(self, run_id: str) -> Definition:
        """The definition that a run was admitted with; ActivityError ``run.unknown``."""
        return await self._definitions.get(await self._revisions.of(run_id))


def limits_of(policy: Policy, contract: OperationContract) -> Limits:
    """Attempt limits of a node: its policy's members over the contract's."""
    attempts = contract.attempts
    milliseconds = attempts.timeout_milliseconds
    return Limits(
        attempts=_first(policy.attempts, attempts.limit),
        send_budget=_first(policy.attempt_timeout_seconds, milliseconds / 1_000),
        delay=_first(policy.retry_delay_seconds, attempts.delay_seconds),
        growth=_first(policy.retry_growth, attempts.growth),
        longest_delay=attempts.longest_delay_seconds,
    )


def _first(own: Number | None, otherwise: Number) -> Number:
    return otherwise if own is None else own


def _call_node(definition: Definition, node: str) -> CallNode:
    found = definition.nodes.get(node)
    if not isinstance(found, CallNode):
        raise _unknown_node(node, "call")
    return found


def _operation(definition: Definition, node: CallNode) -> Operation:
    return definition.operations[node.operation]


def _unknown_node(node: str, what: str) -> ActivityError:
    return ActivityError(
        "node.unknown",
        f"the run's definition has no {what} under this node",
        place=node[:64],
        remedy="run the definition that the ledger holds for this revision",
    )
