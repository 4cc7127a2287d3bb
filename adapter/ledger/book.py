"""``CallBook`` over the ledger: what a run's definition pins about its nodes."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, TypeVar
from uuid import UUID

from activities.errors import ActivityError
from activities.ports import CallFacts, Limits, ObservationFacts
from adapter.ledger.definitions import Definitions
from adapter.ledger.entry import unknown_run
from adapter.ledger.pool import Pool, Question
from adapter.ledger.queries import queries
from interpreter.contract.operations import OperationContract
from interpreter.definition.document import Definition, Operation
from interpreter.definition.nodes import CallNode, ForCompletion, ForSignal, Policy, WaitNode

_SQL = queries("packages")
_MOST_CACHED: Final = 4_096

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class Revision:
    """The revision that a run was admitted with."""

    revision: str


class Book:
    """Facts about nodes, cached: neither a run's revision nor a revision's content changes."""

    def __init__(self, pool: Pool, definitions: Definitions) -> None:
        self._pool = pool
        self._definitions = definitions
        self._revisions: OrderedDict[str, str] = OrderedDict()

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
        revision = self._revisions.get(run_id)
        if revision is None:
            revision = await self._revision(run_id)
            self._revisions[run_id] = revision
            if len(self._revisions) > _MOST_CACHED:
                self._revisions.popitem(last=False)
        return await self._definitions.get(revision)

    async def _revision(self, run_id: str) -> str:
        try:
            UUID(run_id)
        except ValueError as error:
            raise unknown_run(run_id) from error
        row = await self._pool.one(Question(_SQL["run_revision"], {"run": run_id}, Revision))
        if row is None:
            raise unknown_run(run_id)
        return row.revision


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
