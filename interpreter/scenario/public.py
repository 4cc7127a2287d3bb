"""Calls in the public dialect: no time passes, and every further reply is an operator's act.

Source of the rules: the older public scenario format (coordinator contract 10). A retryable or
uncertain reply ends the case in that state unless ``recovery`` names what the operator does next.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from interpreter.contract import effects as x
from interpreter.contract.operations import EffectClass, OperationContract
from interpreter.contract.schemas import escaped
from interpreter.definition import nodes as n
from interpreter.definition.document import Definition
from interpreter.machine import commands as c
from interpreter.machine import events as e
from interpreter.machine.state import Cursor
from interpreter.machine.state import RunState as MachineState
from interpreter.scenario.answers import Feed, contract_of
from interpreter.scenario.cases import Act, ActKind, Case, Reply, ReplyType
from interpreter.scenario.checks import Checks
from interpreter.scenario.clock import BORN_INSIDE, Clock
from interpreter.scenario.effects import ACCEPTED, NOT_APPLIED, UNKNOWN
from interpreter.scenario.faults import CaseFault
from interpreter.scenario.script import Script
from interpreter.scenario.trace import Note

COMPLETED = "completed"
REFUSED = "refused"
RETRYABLE = "retryable"
UNCERTAIN = "uncertain"
DEADLINE_EXCEEDED = "deadline-exceeded"


class PublicCalls:
    """Answers each call at once from its replies, or stops the case in a state."""

    def __init__(
        self,
        definition: Definition,
        case: Case,
        clock: Clock,
        checks: Checks,
        feed: Feed,
        stop: Callable[[str], None],
    ) -> None:
        self._definition = definition
        self._case = case
        self._clock = clock
        self._checks = checks
        self._feed = feed
        self._stop = stop
        self.script = Script(case)
        self.notes: list[Note] = []
        self._standings: dict[str, tuple[EffectClass, str]] = {}
        check_steps(definition, case)

    def perform(self, command: c.PerformCall) -> None:
        """Answer a call, or stop the case, before any time passes."""
        contract = contract_of(self._definition, command.node)
        self._note_misfit(
            "coordinator.scenario.request",
            f"/replies/{escaped(command.node)}",
            f"the input of step `{command.node}` does not fit the request of {contract.id}",
            self._checks.misfit(contract.request, command.input),
        )
        ending = self._play(command, contract)
        now = self._clock.now_ms
        if isinstance(ending, str):
            self._clock.at(now, BORN_INSIDE, partial(self._stop, ending))
            return
        reply = x.Reply(x.ReplyKind.ACCEPTED, ending.value)
        event = e.Answered(
            command.branch, command.node, command.visit, command.generation, reply, now
        )
        self._clock.at(now, BORN_INSIDE, partial(self._feed, event))

    def cancel(self) -> None:
        """Nobody cancels in this dialect."""

    def act(self, act: Act, pointer: str, state: MachineState, cursor: Cursor) -> None:
        """Nobody acts outside the replies in this dialect."""

    def standings(self) -> dict[str, tuple[EffectClass, str]]:
        """How each call ended, by effect id."""
        return self._standings

    def _play(self, command: c.PerformCall, contract: OperationContract) -> Reply | str:
        """The reply that succeeds, or the state in which the case stops."""
        step = command.node
        if step not in self._case.replies:
            self.script.take(step)
        unknown = False
        state = RETRYABLE
        while self.script.left(step):
            reply = self.script.take(step)
            if self.script.taken[step] > 1:
                self._recover(step, contract, unknown)
            match reply.type:
                case ReplyType.SUCCESS:
                    self._stands(command, contract, ACCEPTED)
                    self._note_response(step, contract, reply)
                    return reply
                case ReplyType.RETRYABLE:
                    state = UNCERTAIN if unknown else RETRYABLE
                case ReplyType.UNCERTAIN:
                    state, unknown = UNCERTAIN, True
                case ReplyType.RECEIPT_EXPIRED:
                    self._check_expired(step, contract)
                    state, unknown = UNCERTAIN, True
                case _:
                    state = UNCERTAIN if unknown else REFUSED
                    break
        self._stands(command, contract, UNKNOWN if state == UNCERTAIN else NOT_APPLIED)
        return state

    def _recover(self, step: str, contract: OperationContract, unknown: bool) -> None:
        """Refuse a further reply that no operator's act could have brought about."""
        act = self._case.recovery.get(step)
        if act is None:
            raise self._fault(step, "recovery", "a further reply needs an entry under `recovery`")
        if unknown and contract.effect is EffectClass.EVALUATION:
            raise self._fault(step, "recovery", "an evaluation is never asked again once unknown")
        if act is ActKind.RECONCILE and not (unknown and contract.receipt):
            raise self._fault(step, "recovery", "only an unknown effect can be reconciled")

    def _check_expired(self, step: str, contract: OperationContract) -> None:
        if contract.effect is EffectClass.EVALUATION:
            raise self._fault(step, "reply", "an evaluation has no receipt that could expire")
        if self.script.left(step):
            raise self._fault(step, "receipt-expired", "nothing can follow an expired receipt")

    def _fault(self, step: str, word: str, message: str) -> CaseFault:
        return CaseFault(
            f"coordinator.scenario.{word}",
            f"step `{step}`: {message}",
            place=self.script.pointer(step),
            remedy="correct the replies of this step, or its entry under `recovery`",
        )

    def _stands(self, command: c.PerformCall, contract: OperationContract, standing: str) -> None:
        identity = f"{command.branch}/{command.node}:{command.visit}"
        self._standings[identity] = (contract.effect, standing)

    def _note_response(self, step: str, contract: OperationContract, reply: Reply) -> None:
        self._note_misfit(
            "coordinator.scenario.response",
            f"{self.script.pointer(step)}/value",
            f"the reply does not fit the response of {contract.id}",
            self._checks.misfit(contract.response, reply.value),
        )

    def _note_misfit(self, code: str, pointer: str, message: str, misfit: str | None) -> None:
        # The public format compares no schema here, so a misfit never fails one of its cases.
        if misfit is not None:
            self.notes.append(Note(code, pointer, f"{message} at `{misfit or '/'}`"))


def check_steps(definition: Definition, case: Case) -> None:
    """Refuse replies and recoveries of steps that have none (contract 10, rule 2)."""
    for step in case.replies:
        contract_of(definition, step)
    for step, act in case.recovery.items():
        if not isinstance(definition.nodes.get(step), n.CallNode):
            message = f"step `{step}` is no call"
        elif act is ActKind.RECONCILE and not contract_of(definition, step).receipt:
            message = f"the operation of step `{step}` has no receipt to reconcile with"
        else:
            continue
        raise CaseFault(
            "coordinator.scenario.recovery",
            message,
            place=f"/recovery/{escaped(step)}",
            remedy="use `retry-same`, or remove the entry",
        )
