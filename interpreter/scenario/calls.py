"""Calls in the full dialect: attempts, back-off and time by the node's policy and contract."""

from __future__ import annotations

from functools import partial

from interpreter.contract import effects as x
from interpreter.contract.operations import EffectClass, OperationContract
from interpreter.machine import commands as c
from interpreter.machine import events as e
from interpreter.machine.program import Program
from interpreter.machine.state import Cursor
from interpreter.machine.state import RunState as MachineState
from interpreter.scenario.answers import Feed, Tell, contract_of
from interpreter.scenario.cases import Act, ActKind, Case, Reply, ReplyType
from interpreter.scenario.checks import Checks
from interpreter.scenario.clock import BORN_INSIDE, Clock, Due
from interpreter.scenario.effects import ANY_REFUSAL, Again, Effect, limits_of
from interpreter.scenario.faults import CaseFault
from interpreter.scenario.script import Script
from interpreter.scenario.trace import Note

_KINDS = {
    ReplyType.SUCCESS: x.ReplyKind.ACCEPTED,
    ReplyType.RETRYABLE: x.ReplyKind.RETRYABLE,
    ReplyType.REFUSED: x.ReplyKind.REFUSED,
    ReplyType.DECLARED_REFUSAL: x.ReplyKind.DECLARED_REFUSAL,
    ReplyType.UNCERTAIN: x.ReplyKind.UNKNOWN,
    ReplyType.RECEIPT_EXPIRED: x.ReplyKind.RECEIPT_EXPIRED,
}


class Calls:
    """Carries calls out on the virtual clock; ``feed`` takes what comes back."""

    def __init__(
        self,
        program: Program,
        case: Case,
        clock: Clock,
        checks: Checks,
        feed: Feed,
        tell: Tell,
    ) -> None:
        self._program = program
        self._tell = tell
        self._clock = clock
        self._checks = checks
        self._feed = feed
        self.script = Script(case)
        self.notes: list[Note] = []
        self._effects: dict[str, Effect] = {}
        self._pauses: dict[str, tuple[Due, c.PerformCall]] = {}
        self._cancelled = False
        self._deadline_ms = case.admitted_ms + program.definition.deadline_seconds * 1000
        for step in case.replies:
            contract_of(program.definition, step)

    def standings(self) -> dict[str, tuple[EffectClass, str]]:
        """How each effect that was sent stands, by its id."""
        return {
            identity: (one.contract.effect, one.standing)
            for identity, one in self._effects.items()
            if one.standing is not None
        }

    def perform(self, command: c.PerformCall) -> None:
        """Begin a call: its first attempt is due at once."""
        contract = self._contract(command.node)
        misfit = self._checks.misfit(contract.request, command.input)
        if misfit is not None:
            raise CaseFault(
                "coordinator.scenario.request",
                f"the input of step `{command.node}` does not fit the request of "
                f"{contract.id} at `{misfit or '/'}`",
                place=f"/replies/{command.node}",
                remedy="correct the step's input mapping or its function",
            )
        identity = identity_of(command)
        effect = self._effects.get(identity)
        if effect is None:
            policy = self._program.definition.nodes[command.node].policy
            self._effects[identity] = Effect(contract, limits_of(policy, contract))
        else:
            effect.renew()
        self._clock.at(self._clock.now_ms, BORN_INSIDE, partial(self._attempt, command))

    def cancel(self) -> None:
        """A cancel ends every back-off: what waited for its next attempt is decided now."""
        self._cancelled = True
        for due, command in self._pauses.values():
            due.off = True
            self._clock.at(self._clock.now_ms, BORN_INSIDE, partial(self._attempt, command))
        self._pauses.clear()

    def act(self, act: Act, pointer: str, state: MachineState, cursor: Cursor) -> None:
        """Let an operator settle an unknown effect; CaseFault if production would refuse it."""
        contract = self._contract(act.step)
        if act.kind is ActKind.RETRY_SAME:
            self._retry_same(act, pointer, state, cursor)
            return
        if not contract.receipt:
            raise CaseFault(
                "coordinator.scenario.recovery",
                f"{contract.id} has no receipt to reconcile with",
                place=pointer,
                remedy="use `retry-same`, or let the effect stay unknown",
            )
        reply = self.script.take(act.step)
        match reply.type:
            case ReplyType.SUCCESS:
                self._check_value(act.step, reply)
                self._effects[f"{x.ROOT_BRANCH}/{act.step}:{cursor.visit}"].accept()
                found = x.Reply(x.ReplyKind.ACCEPTED, reply.value)
                self._answered(x.ROOT_BRANCH, cursor, found)
            case ReplyType.UNCERTAIN | ReplyType.RECEIPT_EXPIRED:
                return
            case _:
                raise CaseFault(
                    "coordinator.scenario.reply",
                    "a receipt can be found or not, nothing else",
                    place=self.script.pointer(act.step),
                    remedy="reconcile with a reply of `success`, `uncertain` or `receipt-expired`",
                )

    def _retry_same(self, act: Act, pointer: str, state: MachineState, cursor: Cursor) -> None:
        effect = self._effects[f"{x.ROOT_BRANCH}/{act.step}:{cursor.visit}"]
        forbidden = self._forbidden(after_cancel=state.branches[x.ROOT_BRANCH].after_cancel)
        refused = effect.unrepeatable(self._clock.now_ms)
        if forbidden:
            refused = f"after the {forbidden} nothing is sent again"
        if refused:
            raise CaseFault(
                "coordinator.scenario.act",
                refused,
                place=pointer,
                remedy="act earlier, reconcile, or expect the state in which the run stays",
            )
        self._feed(
            e.RetriedSame(
                x.ROOT_BRANCH, act.step, cursor.visit, cursor.generation + 1, self._clock.now_ms
            )
        )

    def _contract(self, step: str) -> OperationContract:
        return contract_of(self._program.definition, step)

    def _forbidden(self, *, after_cancel: bool) -> str:
        if self._cancelled and not after_cancel:
            return "cancel"
        return "deadline" if self._clock.now_ms >= self._deadline_ms else ""

    def _attempt(self, command: c.PerformCall) -> None:
        effect = self._effects[identity_of(command)]
        self._pauses.pop(identity_of(command), None)
        forbidden = self._forbidden(after_cancel=command.after_cancel)
        instead = effect.claim(self._clock.now_ms, forbidden)
        if instead is not None:
            self._reply(command, instead)
            return
        scripted = self.script.take(command.node)
        answer = self._answer(command, scripted)
        effect.sent(self._clock.now_ms)
        takes = scripted.takes_ms
        if takes > effect.limits.send_budget:
            takes = effect.limits.send_budget
            # Whether a send that ran out of time was applied is not known.
            answer = x.Reply(x.ReplyKind.UNKNOWN, code="attempt-timeout")
        arrival = self._clock.now_ms + takes
        settle = partial(self._settle, command, answer, scripted.retry_after_ms)
        self._clock.at(arrival, BORN_INSIDE, settle)

    def _settle(self, command: c.PerformCall, answer: x.Reply, retry_after: int | None) -> None:
        effect = self._effects[identity_of(command)]
        now = self._clock.now_ms
        verdict = effect.settle(answer, retry_after, now, self._deadline_ms)
        if not isinstance(verdict, Again):
            self._reply(command, verdict)
            return
        if self._cancelled and not command.after_cancel:
            self._attempt(command)
            return
        seconds = verdict.pause_ms / 1000
        self._tell(command.node, f"answers `{answer.code}`, is tried again after {seconds:g} s")
        due = self._clock.at(now + verdict.pause_ms, BORN_INSIDE, partial(self._attempt, command))
        self._pauses[identity_of(command)] = (due, command)

    def _answer(self, command: c.PerformCall, scripted: Reply) -> x.Reply:
        if scripted.type is ReplyType.SUCCESS:
            self._check_value(command.node, scripted)
        if scripted.type is ReplyType.DECLARED_REFUSAL:
            self._check_refusal(command.node, scripted.code)
        return x.Reply(_KINDS[scripted.type], scripted.value, scripted.code)

    def _check_value(self, step: str, reply: Reply) -> None:
        contract = self._contract(step)
        misfit = self._checks.misfit(contract.response, reply.value)
        if misfit is not None:
            raise CaseFault(
                "coordinator.scenario.response",
                f"the reply does not fit the response of {contract.id} at `{misfit or '/'}`",
                place=f"{self.script.pointer(step)}/value{misfit}",
                remedy="write a reply that the product can give",
            )

    def _check_refusal(self, step: str, code: str) -> None:
        contract = self._contract(step)
        if code not in contract.refusals and ANY_REFUSAL not in contract.refusals:
            raise CaseFault(
                "coordinator.scenario.reply",
                f"{contract.id} declares no refusal of this code",
                place=f"{self.script.pointer(step)}/code",
                remedy="use a code that the contract declares, or a reply of `refused`",
            )

    def _reply(self, command: c.PerformCall, reply: x.Reply) -> None:
        self._feed(
            e.Answered(
                command.branch,
                command.node,
                command.visit,
                command.generation,
                reply,
                self._clock.now_ms,
            )
        )

    def _answered(self, branch: str, cursor: Cursor, reply: x.Reply) -> None:
        now = self._clock.now_ms
        self._feed(e.Answered(branch, cursor.node, cursor.visit, cursor.generation, reply, now))


def identity_of(command: c.PerformCall) -> str:
    """``branch/node:visit``, the id of the effect."""
    return f"{command.branch}/{command.node}:{command.visit}"
