"""A skeleton case for every outlet that no case takes, with values made up from the schemas."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from adapter.authoring.scenarios.routes import Route, route_through
from adapter.authoring.scenarios.samples import sample, variants
from adapter.authoring.sources import pointer_parts
from interpreter.contract.values import JsonValue
from interpreter.definition import mappings as m
from interpreter.definition import nodes as n
from interpreter.definition.document import Definition, PackagedDefinition
from interpreter.machine.pointers import epoch_milliseconds
from interpreter.scenario import (
    Cancel,
    Case,
    CaseFault,
    Completion,
    Decision,
    Dialect,
    Moment,
    Outlet,
    Reply,
    ReplyType,
    Signal,
    Stage,
    Trace,
)

ADMITTED_AT = "2026-03-02T08:00:00Z"
MOST_TRIES = 1_000
"""Plays that may be spent on making one skeleton take its outlet."""

_MINUTE = Moment(after_ms=60_000)
_LONGEST_ID = 64


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A case for ``outlet``; ``trace`` is what it does, None where its author must complete it."""

    case: Case
    outlet: Outlet
    route: Route
    trace: Trace | None


@dataclass(slots=True)
class _Values:
    """The made-up values of one case, by what they stand for."""

    known: dict[Key, JsonValue] = field(default_factory=dict)
    schemas: dict[Key, JsonValue] = field(default_factory=dict)

    def make(self, key: Key, schema: JsonValue, examples: Mapping[Key, JsonValue]) -> None:
        self.schemas[key] = schema
        self.known[key] = examples[key] if key in examples else sample(schema)


def _examples(cases: Iterable[Case]) -> dict[Key, JsonValue]:
    """The values that an author has written before, the first of each kind."""
    found: dict[Key, JsonValue] = {}
    for case in cases:
        found.setdefault(("input", ""), case.input)
        for step, replies in case.replies.items():
            for reply in replies:
                if reply.type is ReplyType.SUCCESS:
                    found.setdefault(("reply", step), reply.value)
        for completion in case.completions:
            if not completion.gone:
                found.setdefault(("completion", completion.step), completion.value)
        for signal in case.signals:
            found.setdefault(("signal", signal.step), signal.payload)
    return found


def skeletons(
    packaged: PackagedDefinition,
    untaken: Iterable[Outlet],
    dialect: Dialect,
    cases: Sequence[Case] = (),
) -> Iterator[Skeleton]:
    """One case after the other until each outlet is taken or has a case to be completed.

    ``cases`` are those that exist already: their ids are not used again, their values are. An
    outlet that an earlier skeleton takes on its way gets no case of its own.
    """
    stage = Stage(packaged.definition, packaged.labels.version)
    ids = {case.id for case in cases}
    examples = _examples(cases)
    done: set[tuple[str, str]] = set()
    for outlet in untaken:
        route = route_through(packaged.definition, outlet)
        if (outlet.node, outlet.outlet) in done or route is None:
            continue
        values = _made_up(packaged.definition, route, examples)
        build = _Builder(packaged.definition, route, dialect, _id(outlet, ids))
        skeleton = _skeleton(stage, outlet, build, values)
        ids.add(skeleton.case.id)
        if skeleton.trace is not None:
            done |= skeleton.trace.outlets
        yield skeleton


def _id(outlet: Outlet, taken: set[str]) -> str:
    """``<step>-<outlet>`` as a name that no other case has."""
    plain = re.sub(r"[^a-z0-9_-]+", "-", f"{outlet.node}-{outlet.outlet}".lower()).strip("-")
    name = plain[:_LONGEST_ID]
    number = 1
    while name in taken:
        number += 1
        ending = f"-{number}"
        name = plain[: _LONGEST_ID - len(ending)] + ending
    return name


def _skeleton(stage: Stage, outlet: Outlet, route: Route, dialect: Dialect, id: str) -> Skeleton:
    values = _made_up(stage.definition, route)
    _steer(stage.definition, route, values)
    case = _case(stage.definition, route, values, dialect, id)
    wanted = (outlet.node, outlet.outlet)
    trace = _played(stage, case)
    if trace is not None and wanted in trace.outlets:
        return Skeleton(case, outlet, route, trace)
    for _, other in zip(range(MOST_TRIES), _varied(values), strict=False):
        varied = _case(stage.definition, route, other, dialect, id)
        trace = _played(stage, varied)
        if trace is not None and wanted in trace.outlets:
            return Skeleton(varied, outlet, route, trace)
    return Skeleton(case, outlet, route, None)


def _played(stage: Stage, case: Case) -> Trace | None:
    try:
        return stage.play(case)
    except CaseFault:
        return None


def _varied(values: _Values) -> Iterator[_Values]:
    """Every value in turn replaced by its variations, and then every two of them."""
    changes = {key: list(variants(schema))[1:] for key, schema in values.schemas.items()}
    for key, others in changes.items():
        for other in others:
            yield _Values({**values.known, key: other}, values.schemas)
    for key, others in changes.items():
        for second, seconds in changes.items():
            if second <= key:
                continue
            for one in others:
                for two in seconds:
                    known = {**values.known, key: one, second: two}
                    yield _Values(known, values.schemas)


def _made_up(definition: Definition, route: Route) -> _Values:
    values = _Values()
    values.make("input", "", definition.input_schema)
    for step, outlet in route.hops:
        node = definition.nodes[step]
        match node:
            case n.CallNode() if outlet == "next":
                contract = definition.operations[node.operation].contract
                values.make("reply", step, contract.response)
            case n.WaitNode(wait=n.ForCompletion() as wait) if outlet == "completed":
                call = definition.nodes[wait.call]
                assert isinstance(call, n.CallNode)
                contract = definition.operations[call.operation].contract
                schema = contract.completions[wait.completion].value_schema
                values.make("completion", step, schema)
            case n.WaitNode(wait=n.ForSignal() as wait) if outlet == "resumed":
                values.make("signal", step, wait.signal_schema)
            case _:
                pass
    return values


def _steer(definition: Definition, route: Route, values: _Values) -> None:
    """Where a choose reads its label as it stands, put the wanted label there."""
    for step, outlet in route.hops:
        node = definition.nodes[step]
        if not isinstance(node, n.ChooseNode):
            continue
        match node.choose:
            case m.FromInput(input=pointer):
                _put(values, "input", "", pointer, outlet)
            case m.FromStep(step=source, path=pointer):
                for kind in ("reply", "completion", "signal"):
                    _put(values, kind, source, pointer, outlet)
            case _:
                pass


def _put(values: _Values, kind: str, step: str, pointer: str, label: str) -> None:
    key = (kind, step)
    if key not in values.known:
        return
    if not pointer:
        values.known[key] = label
        return
    *parents, last = pointer_parts(pointer)
    changed = copy.deepcopy(values.known[key])
    target = changed
    for part in parents:
        if not isinstance(target, dict):
            return
        target = target.setdefault(part, {})
    if isinstance(target, dict):
        target[last] = label
        values.known[key] = changed


def _case(definition: Definition, route: Route, values: _Values, dialect: Dialect, id: str) -> Case:
    case = Case(
        id=id,
        admitted_ms=epoch_milliseconds(ADMITTED_AT),
        input=values.known["input", ""],
        expected={},
        dialect=dialect,
    )
    for step, outlet in route.hops:
        case = _with_hop(definition, case, values, step, outlet)
    return case


def _with_hop(definition: Definition, case: Case, values: _Values, step: str, outlet: str) -> Case:
    """The case with what makes one step leave through its outlet."""
    node = definition.nodes[step]
    if isinstance(node, n.CallNode):
        return replace(case, replies={**case.replies, step: (_reply(values, step, outlet),)})
    if not isinstance(node, n.WaitNode):
        return case
    match node.wait, outlet:
        case _, "cancelled":
            return replace(case, cancel=Cancel(Moment(after_ms=1_000), step))
        case n.ForCompletion(), "completed":
            value = values.known["completion", step]
            return replace(case, completions=(*case.completions, Completion(step, _MINUTE, value)))
        case n.ForSignal(signal=name), "resumed":
            payload = values.known["signal", step]
            return replace(case, signals=(*case.signals, Signal(name, payload, _MINUTE, step)))
        case n.ForApproval(), "approved" | "rejected":
            decision = Decision(step, outlet == "approved", _MINUTE)
            return replace(case, decisions=(*case.decisions, decision))
        case _:
            return case


def _reply(values: _Values, step: str, outlet: str) -> Reply:
    if outlet == "next":
        return Reply(ReplyType.SUCCESS, values.known["reply", step])
    if outlet.startswith(n.REFUSAL_OUTLET):
        return Reply(ReplyType.DECLARED_REFUSAL, code=outlet.removeprefix(n.REFUSAL_OUTLET))
    return Reply(ReplyType.REFUSED, code="product-refused")
