"""The second opponent: the same workflows by hand, with the ledger's writes in their activities."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from temporalio import activity, workflow
from temporalio.exceptions import ApplicationError

from activities import ports
from benchmarks.cases import CONNECTIONS, OPERATIONS, contract_of, message_input, read_input
from benchmarks.plain import ATTEMPT_LIMIT, Job, ProductClient
from interpreter.contract.effects import ROOT_BRANCH, Reply, ReplyKind, VisitRef
from interpreter.contract.records import Closing, RunState

_LIMITS = ports.Limits(attempts=3, send_budget=10.0, delay=1.0, growth=2.0, longest_delay=300.0)

Send = Callable[[dict[str, Any], str], Awaitable[dict[str, Any]]]


@dataclass(frozen=True)
class Step:
    """What an activity is given: the call's input, and its place in the ledger.

    The step has a name of its own. Temporal's numbering of activities would not do: a step added
    in front would give every later one another idempotency key.
    """

    step: str
    sequence: int
    input: dict[str, Any]


class LedgeredCalls:
    """The activities: claim and dispatch in one transaction, send, settle in another."""

    def __init__(
        self, product: ProductClient, effects: ports.EffectLedger, runs: ports.RunLedger
    ) -> None:
        self._product = product
        self._effects = effects
        self._runs = runs

    @activity.defn
    async def read_record(self, step: Step) -> Any:
        """Read a record."""
        return await self._perform("read", step, self._read)

    @activity.defn
    async def submit_message(self, step: Step) -> Any:
        """Submit a message."""
        return await self._perform("effect", step, self._product.submit)

    @activity.defn
    async def close_run(self, sequence: int, output: str) -> None:
        """Write the run's end."""
        closing = Closing(RunState.FINISHED, sequence, "done", output)
        await self._runs.close(activity.info().workflow_id or "", 1, closing)

    def callables(self) -> list[Callable[..., Any]]:
        """What a worker registers."""
        return [self.read_record, self.submit_message, self.close_run]

    async def _read(self, input: dict[str, Any], _key: str) -> dict[str, Any]:
        return await self._product.read(input["recordId"])

    async def _perform(self, kind: str, step: Step, send: Send) -> Any:
        visit = VisitRef(activity.info().workflow_id or "", ROOT_BRANCH, step.step, 1)
        token, contract = uuid.uuid4().hex, contract_of(kind)
        command = ports.Command(CONNECTIONS[kind], OPERATIONS[kind], step.input)
        claimed = await self._effects.claim(
            ports.Claim(visit, 1, token, command, contract, _LIMITS, step.sequence)
        )
        match claimed:
            case ports.Settled(reply):
                return reply.output
            case ports.Busy():
                raise ApplicationError("another attempt is sending")
            case ports.Dispatched():
                output = await send(step.input, claimed.idempotency_key)
        reply = Reply(ReplyKind.ACCEPTED, output)
        receipt = output if contract.receipt else None
        settled = await self._effects.settle(
            ports.Settlement(visit, 1, token, contract, _LIMITS, reply, step.sequence + 1, receipt)
        )
        if isinstance(settled, ports.Retry):
            raise ApplicationError(settled.code)
        return settled.output


@workflow.defn(name="ledgered-reads-by-hand")
class LedgeredReads:
    """Reads in a row, each in the ledger."""

    @workflow.run
    async def run(self, job: Job) -> str:
        """Give the id in the last record."""
        record: dict[str, Any] = {}
        for number in range(1, job.steps + 1):
            record = await workflow.execute_activity_method(
                LedgeredCalls.read_record,
                Step(f"read-{number}", 2 * number - 1, read_input(job.run)),
                start_to_close_timeout=ATTEMPT_LIMIT,
            )
        return await _closed(job, str(record["recordId"]))


@workflow.defn(name="ledgered-effects-by-hand")
class LedgeredEffects:
    """Effects in a row, each in the ledger."""

    @workflow.run
    async def run(self, job: Job) -> str:
        """Give the id of the last message."""
        accepted: dict[str, Any] = {}
        for number in range(1, job.steps + 1):
            accepted = await workflow.execute_activity_method(
                LedgeredCalls.submit_message,
                Step(f"effect-{number}", 2 * number - 1, message_input(job.run)),
                start_to_close_timeout=ATTEMPT_LIMIT,
            )
        return await _closed(job, str(accepted["id"]))


async def _closed(job: Job, output: str) -> str:
    await workflow.execute_activity_method(
        LedgeredCalls.close_run,
        args=[2 * job.steps + 1, output],
        start_to_close_timeout=ATTEMPT_LIMIT,
    )
    return output


WORKFLOWS: list[type[Any]] = [LedgeredReads, LedgeredEffects]
