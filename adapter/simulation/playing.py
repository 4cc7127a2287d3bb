"""One request after the other: found, struck by a failure, answered once per key."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter, deque
from dataclasses import dataclass

from activities.catalogue import AdapterName, CatalogueEntry
from adapter.authoring.samples import NoSample
from adapter.simulation import answers, describing, evaluating
from adapter.simulation.answers import LOST, Answer, Lost
from adapter.simulation.awaiting import Awaiting
from adapter.simulation.failing import Failing
from adapter.simulation.plan import Failure, FailureKind, ScriptedReply, SimulationPlan
from adapter.simulation.routes import HttpRequest, Purpose, Route, Surface, Unreadable
from adapter.simulation.steps import Steps
from adapter.simulation.store import Awaited, Standing, Store, StoredAnswer
from adapter.simulation.values import ABSENT, completed_by, echoes, made
from interpreter.contract.effects import ReplyKind
from interpreter.contract.values import JsonValue
from interpreter.scenario import ReplyType

_MOST_SEEN = 50
_KINDS = {
    ReplyType.RETRYABLE: ReplyKind.RETRYABLE,
    ReplyType.REFUSED: ReplyKind.REFUSED,
    ReplyType.DECLARED_REFUSAL: ReplyKind.DECLARED_REFUSAL,
    ReplyType.UNCERTAIN: ReplyKind.UNKNOWN,
    ReplyType.RECEIPT_EXPIRED: ReplyKind.RECEIPT_EXPIRED,
}


@dataclass(frozen=True, slots=True)
class Seen:
    """A request for people to look at: no value of it is kept."""

    step: str
    operation: str
    connection: str
    answer: str


@dataclass(frozen=True, slots=True)
class Command:
    """A request that was read: its route, its input, its key, and the digest of its bytes."""

    route: Route
    input: JsonValue
    key: str
    digest: str
    step: str

    @property
    def entry(self) -> CatalogueEntry:
        """The operation under its pinned contract."""
        return self.route.entry

    @property
    def name(self) -> str:
        """What makes a repetition of this command the same command."""
        return self.key or self.digest


@dataclass(frozen=True, slots=True)
class Subject:
    """An awaited result that a request is about; ``is_read`` for the operation that reads it."""

    result: Awaited
    is_read: bool

    @property
    def is_poll(self) -> bool:
        """Whether it is the wait that reads: nothing else was done about the result yet."""
        return self.is_read and not self.result.touched


class Playing:
    """Every product of one definition, simulated."""

    def __init__(self, plan: SimulationPlan, store: Store) -> None:
        definition = plan.read_definition()
        self._plan = plan
        self._store = store
        self._definition = definition
        self._surface = Surface(definition, plan.read_catalogue())
        self._steps = Steps(definition)
        self._spoken: Counter[str] = Counter()
        self.awaiting = Awaiting(definition, plan, store)
        self.failing = Failing(definition, plan)
        self.seen: deque[Seen] = deque(maxlen=_MOST_SEEN)

    @property
    def workflow(self) -> str:
        """The id of the workflow whose products these are."""
        return self._definition.id

    async def answer(self, request: HttpRequest) -> Answer | Lost:
        """What the product does with a request."""
        found = self._surface.find(request)
        if found is None:
            return answers.problem(404, "not-found", "No simulated operation has this address.")
        route, inner, members = found
        if route.purpose is Purpose.DESCRIPTION:
            return answers.success(route.entry.http, self._description())
        try:
            input = route.input(inner, members)
        except Unreadable as error:
            return answers.problem(400, "request-invalid", f"{error}.")
        key = inner.headers.get(route.entry.http.idempotency_header.lower(), "")
        if route.entry.contract.key and not key:
            return answers.problem(400, "idempotency-key-required", "Send an idempotency key.")
        awaited = self._awaited(route, input)
        command = self._command(route, input, key, awaited)
        answer = await self._played(command, awaited)
        said = "no answer" if isinstance(answer, Lost) else str(answer.status)
        one = Seen(command.step, route.operation, route.connection, said)
        # A poll repeats itself for as long as it waits.
        if awaited is None or not awaited.is_poll or one not in self.seen:
            self.seen.append(one)
        return answer

    def _awaited(self, route: Route, input: JsonValue) -> Subject | None:
        """The awaited result that a request is about."""
        found = self.awaiting.about(route.connection, input)
        if found is None:
            return None
        return Subject(found, self.awaiting.is_read_by(found, route.entry.contract))

    def _command(
        self, route: Route, input: JsonValue, key: str, awaited: Subject | None
    ) -> Command:
        written = json.dumps([route.connection, route.operation, input], sort_keys=True)
        digest = hashlib.sha256(written.encode()).hexdigest()
        stored = self._store.answer(route.operation, key) if key else None
        if stored is not None:
            step = stored.step
        elif awaited is not None and awaited.is_poll:
            step = awaited.result.wait
        else:
            grant = route.entry.http.grant
            hidden = [] if grant is None else [grant]
            step = self._steps.of(route.connection, route.operation, input, key, hidden)
        return Command(route, input, key, digest, step)

    async def _played(self, command: Command, awaited: Subject | None) -> Answer | Lost:
        if command.route.purpose is Purpose.RECEIPT:
            return await self._receipt(command)
        failure = self.failing.strike(command.step, command.name, repeats=not command.key)
        if failure is not None and failure.kind is FailureKind.SLOW:
            await asyncio.sleep(failure.seconds)
        elif failure is not None and failure.kind is not FailureKind.LOST_RESPONSE:
            return _struck(command.entry, failure)
        answer: Answer | Lost | None = self._stored(command)
        if answer is None:
            answer = await self._fresh(command, awaited)
        lost = failure is not None and failure.kind is FailureKind.LOST_RESPONSE
        return LOST if lost else answer

    def _stored(self, command: Command) -> Answer | None:
        """The answer that this key got before."""
        stored = self._store.answer(command.route.operation, command.key) if command.key else None
        if stored is None:
            return None
        if stored.digest != command.digest:
            detail = "This key was used with other content."
            return answers.problem(409, "idempotency-conflict", detail)
        return self._wire(command, stored.output, ("idempotency-replayed", "true"))

    async def _receipt(self, command: Command) -> Answer | Lost:
        stored = self._store.answer(command.route.operation, command.key)
        if stored is None:
            scripted = self._next_scripted(command.step)
            if scripted is None or scripted.type is not ReplyType.SUCCESS:
                detail = "No request with this key is on record."
                return answers.problem(404, "receipt-unresolved", detail)
            output = await self._scripted_value(command, scripted)
            self._accept(command, output)
            stored = StoredAnswer(command.step, command.digest, output)
        receipt = command.entry.http.receipt
        status = receipt.success[0] if receipt is not None else 200
        return answers.success(command.entry.http, stored.output, status)

    async def _fresh(self, command: Command, awaited: Subject | None) -> Answer | Lost:
        """The answer to a command that was not answered before."""
        scripts = bool(self._plan.script.get(command.step))
        if awaited is not None and awaited.is_read and (awaited.is_poll or not scripts):
            return self._observed(command, awaited.result)
        output: JsonValue
        scripted = self._next_scripted(command.step)
        if scripted is not None:
            if scripted.type is not ReplyType.SUCCESS:
                await asyncio.sleep(scripted.takes_seconds)
                self._touch(awaited, None)
                return answers.classified(command.entry, _KINDS[scripted.type], scripted.code)
            output = await self._scripted_value(command, scripted)
        else:
            late = self._too_late(command, awaited)
            if late is not None:
                return late
            try:
                output = self._made(command)
            except NoSample:
                return _no_sample("response")
        self._touch(awaited, output)
        self._accept(command, output)
        return self._wire(command, output)

    def _too_late(self, command: Command, awaited: Subject | None) -> Answer | None:
        """The refusal of a call about a result that is there already."""
        if awaited is None or awaited.is_read:
            return None
        code = self.awaiting.contradiction(awaited.result, command.entry)
        if code is None:
            return None
        self._touch(awaited, None)
        return answers.refused(command.entry, code)

    def _touch(self, awaited: Subject | None, output: JsonValue) -> None:
        if awaited is not None and not awaited.is_read:
            self.awaiting.touch(awaited.result, output)

    def _observed(self, command: Command, awaited: Awaited) -> Answer:
        try:
            output = self.awaiting.observation(awaited, command.entry.contract)
        except NoSample:
            return _no_sample("state of the awaited result")
        if awaited.standing is not Standing.PENDING:
            self._steps.answered(command.step, output)
            self.awaiting.touch(awaited, None)
        return self._wire(command, output)

    def _accept(self, command: Command, output: JsonValue) -> None:
        """Remember what was accepted, and let the waits for it begin."""
        self._steps.answered(command.step, output)
        if command.key:
            stored = StoredAnswer(command.step, command.digest, output)
            self._store.keep_answer(command.route.operation, command.key, stored)
        if command.step:
            self.awaiting.open(command.step, output)

    def _next_scripted(self, step: str) -> ScriptedReply | None:
        """The next reply of the case; after the last one it begins again, for the next run."""
        replies = self._plan.script.get(step)
        if not replies:
            return None
        self._spoken[step] += 1
        return replies[(self._spoken[step] - 1) % len(replies)]

    async def _scripted_value(self, command: Command, scripted: ScriptedReply) -> JsonValue:
        await asyncio.sleep(scripted.takes_seconds)
        return completed_by(command.entry.contract.response, command.name, scripted.value)

    def _made(self, command: Command) -> JsonValue:
        contract, seed = command.entry.contract, f"{command.step}:{command.name}"
        example = self._plan.examples.get(command.step, ABSENT)
        if command.entry.adapter is AdapterName.EVALUATION:
            return evaluating.made_output(command.input, seed)
        wishes = echoes(command.input)
        if command.entry.adapter is AdapterName.EXTERNAL:
            wishes = {"status": 200}
            if isinstance(example, dict):
                wishes |= {name: example[name] for name in ("status", "body") if name in example}
        rules = self.awaiting.rules_of(command.step)
        return made(contract.response, seed, example=example, wishes=wishes, rules=rules)

    def _wire(self, command: Command, output: JsonValue, *headers: tuple[str, str]) -> Answer:
        """An output as its product writes it."""
        http = command.entry.http
        try:
            if command.entry.adapter is AdapterName.EXTERNAL:
                return Answer(output["status"], output["body"])
            if command.entry.adapter is AdapterName.EVALUATION:
                return answers.success(http, evaluating.wire_body(output), 200)
        except (KeyError, TypeError, AttributeError):
            # A case may write what the operation can not answer; the worker shall judge it.
            return answers.success(http, output)
        answer = answers.success(http, output)
        return Answer(answer.status, answer.body, (*answer.headers, *headers))

    def _description(self) -> JsonValue:
        codes = [one.code for replies in self._plan.script.values() for one in replies]
        codes += [failure.code for failure in self.failing.every()]
        return describing.description(self._definition, list(dict.fromkeys(filter(None, codes))))


def _struck(entry: CatalogueEntry, failure: Failure) -> Answer:
    if failure.kind is FailureKind.RATE_LIMITED:
        return answers.rate_limited()
    if failure.kind is FailureKind.REFUSE:
        return answers.refused(entry, failure.code)
    return answers.unavailable()


def _no_sample(what: str) -> Answer:
    return answers.problem(501, "no-sample", f"No value could be made up for the {what}.")
