"""Results that waits wait for: opened by a call, read by polls, completed by the author or time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from activities.catalogue import CatalogueEntry
from activities.catalogue.schemas import compile_check
from adapter.authoring.samples import NoSample
from adapter.errors import Refused
from adapter.simulation.plan import SimulationPlan
from adapter.simulation.store import Awaited, Standing, Store, now
from adapter.simulation.values import ABSENT, at, made, member, none_of
from interpreter.contract.operations import Completion, OperationContract
from interpreter.contract.values import JsonValue
from interpreter.definition import nodes as n
from interpreter.definition.document import Definition


@dataclass(frozen=True, slots=True)
class Wait:
    """The first of the wait steps for one completion of one call; ``steps`` are all of them."""

    step: str
    call: str
    connection: str
    completion: Completion
    steps: tuple[str, ...]

    def id(self, source: JsonValue) -> str | None:
        """The id of the result that an input with these members is about, None if about none."""
        names = self.completion.input
        if not isinstance(source, dict) or any(name not in source for name in names):
            return None
        return "-".join(str(source[name]) for name in names) or self.step


class Awaiting:
    """Every awaited result of a definition's waits."""

    def __init__(self, definition: Definition, plan: SimulationPlan, store: Store) -> None:
        self._waits = {one.step: one for one in _waits(definition)}
        self._plan = plan
        self._store = store

    def rules_of(self, step: str) -> tuple[JsonValue, ...]:
        """What the accepted answer of a call has to be so that its waits have to wait."""
        waits = [one.completion for one in self._waits.values() if one.call == step]
        return tuple(none_of(one.done, one.gone) for one in waits)

    def open(self, step: str, reply: JsonValue) -> None:
        """Let the waits of an accepted call begin."""
        for wait in self._waits.values():
            if wait.call != step:
                continue
            named = {k: member(reply, p) for k, p in wait.completion.input.items()}
            id = None if any(one is ABSENT for one in named.values()) else wait.id(named)
            if id is None:
                continue
            self._store.keep_awaited(
                Awaited(
                    id=id,
                    connection=wait.connection,
                    wait=wait.step,
                    identity=named,
                    reply=reply,
                    standing=Standing.PENDING,
                    value=None,
                    touched=False,
                    opened_at=now(),
                )
            )

    def every(self) -> list[Awaited]:
        """The latest awaited results of the waits that the definition still has, newest first."""
        found = self._store.latest_awaited()
        return [self._timely(one) for one in found if one.wait in self._waits]

    def about(self, connection: str, input: JsonValue) -> Awaited | None:
        """The awaited result whose identity an input names."""
        for wait in self._waits.values():
            id = wait.id(input) if wait.connection == connection else None
            found = None if id is None else self._store.awaited(id)
            if found is not None and (found.wait, found.connection) == (wait.step, connection):
                return self._timely(found)
        return None

    def is_read_by(self, one: Awaited, contract: OperationContract) -> bool:
        """Whether polls for this result call the operation."""
        return self._waits[one.wait].completion.read == contract.id

    def observation(self, one: Awaited, contract: OperationContract) -> JsonValue:
        """What a read of the result is answered; NoSample if the contract has no such answer."""
        completion = self._waits[one.wait].completion
        kept = dict(one.reply) if isinstance(one.reply, dict) else {}
        kept.pop(completion.done.path.split("/")[1], None)
        kept |= one.identity
        match one.standing:
            case Standing.PENDING:
                rules = [none_of(completion.done, completion.gone)]
            case Standing.COMPLETED:
                rules = [
                    at(completion.done.path, {"enum": list(completion.done.values)}),
                    at(completion.value, {"const": one.value}),
                ]
            case Standing.GONE:
                gone = completion.gone or completion.done
                rules = [at(gone.path, {"enum": list(gone.values)})]
        seed = f"{one.id}:{one.standing.value}"
        return made(contract.response, seed, wishes=kept, rules=tuple(rules))

    def contradiction(self, one: Awaited, entry: CatalogueEntry) -> str | None:
        """The declared refusal for a call that comes too late, None if it does not.

        Too late is a call about a completed result whose answer could not show it as completed: a
        withdrawal, say.
        """
        declared = sorted(entry.http.refusals)
        if one.standing is not Standing.COMPLETED or not declared:
            return None
        done = self._waits[one.wait].completion.done
        rule = at(done.path, {"enum": list(done.values)})
        try:
            made(entry.contract.response, one.id, rules=(rule,))
        except NoSample:
            return declared[0]
        return None

    def touch(self, one: Awaited, reply: JsonValue) -> None:
        """Note that another call about the same thing was accepted or refused."""
        gone = self._waits[one.wait].completion.gone
        over = gone is not None and member(reply, gone.path) in gone.values
        withdrawn = over and one.standing is Standing.PENDING
        standing = Standing.GONE if withdrawn else one.standing
        self._store.keep_awaited(replace(one, touched=True, standing=standing))

    def find(self, name: str) -> Awaited:
        """The pending result of an id or wait step, the only one for an empty name.

        Raises Refused ``simulation.nothing-pending`` or ``simulation.several-pending``.
        """
        pending = [one for one in self.every() if one.standing is Standing.PENDING]
        found = [one for one in pending if name in ("", one.id, *self._waits[one.wait].steps)]
        if len(found) == 1:
            return found[0]
        ids = ", ".join(one.id for one in (found or pending)[:5])
        if found:
            raise Refused(
                "simulation.several-pending",
                f"{len(found)} results are pending: {ids}",
                place=name[:64],
                remedy="name one of them by its id",
            )
        raise Refused(
            "simulation.nothing-pending",
            "no such result is pending" + (f"; pending are {ids}" if ids else ""),
            place=name[:64],
            remedy="name a pending one" if ids else "start a run that comes to a wait",
        )

    def complete(
        self,
        one: Awaited,
        value: JsonValue = ABSENT,
        members: JsonValue = None,
        *,
        gone: bool = False,
    ) -> Awaited:
        """Complete a result with a value, or with one made up that has these ``members``.

        Raises Refused ``simulation.value-unfit`` for a value that is not the completion's.
        """
        completion = self._waits[one.wait].completion
        if gone:
            if completion.gone is None:
                raise Refused(
                    "simulation.never-gone",
                    "the contract of this completion knows no such end",
                    place=one.wait,
                    remedy="complete it with a value",
                )
            done = replace(one, standing=Standing.GONE)
        else:
            found = self._made_value(one, members) if value is ABSENT else value
            misfit = compile_check(completion.value_schema)(found)
            if misfit is not None:
                raise Refused(
                    "simulation.value-unfit",
                    "the value is not what the completion's contract promises",
                    place=misfit,
                    remedy="leave the value out to have one made up",
                    status=422,
                )
            done = replace(one, standing=Standing.COMPLETED, value=found)
        self._store.keep_awaited(done)
        return done

    def _made_value(self, one: Awaited, members: JsonValue) -> JsonValue:
        schema = self._waits[one.wait].completion.value_schema
        scripted = self._plan.completions.get(one.wait, ABSENT)
        if scripted is not ABSENT and not members:
            return scripted
        rules = tuple(at(f"/{name}", {"const": value}) for name, value in (members or {}).items())
        example = self._plan.examples.get(one.wait, ABSENT)
        try:
            return made(schema, one.id, example=example, rules=rules)
        except NoSample:
            raise Refused(
                "simulation.value-unfit",
                "no value of the completion's contract is like this",
                place=one.wait,
                remedy="give a whole value that fits the contract",
                status=422,
            ) from None

    def _timely(self, one: Awaited) -> Awaited:
        """The result as it stands now: completed by itself when its time has come."""
        after = self._plan.complete_after_seconds
        if one.standing is not Standing.PENDING or after is None or now() < one.opened_at + after:
            return one
        return self.complete(one)


def _waits(definition: Definition) -> list[Wait]:
    found: dict[tuple[str, str], Wait] = {}
    for name, node in definition.nodes.items():
        if not isinstance(node, n.WaitNode) or not isinstance(node.wait, n.ForCompletion):
            continue
        call = definition.nodes[node.wait.call]
        if not isinstance(call, n.CallNode):
            continue
        operation = definition.operations[call.operation]
        awaited = (node.wait.call, node.wait.completion)
        known = found.get(awaited)
        found[awaited] = Wait(
            step=name if known is None else known.step,
            call=node.wait.call,
            connection=operation.connection,
            completion=operation.contract.completions[node.wait.completion],
            steps=(name,) if known is None else (*known.steps, name),
        )
    return list(found.values())
