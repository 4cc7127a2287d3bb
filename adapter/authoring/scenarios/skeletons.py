"""A skeleton case for every outlet that no case takes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from adapter.authoring.scenarios.made_up import INPUT, Values, examples_of
from adapter.authoring.scenarios.routes import Route, route_through
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
    definition = packaged.definition
    stage = Stage(definition, packaged.labels.version)
    ids = {case.id for case in cases}
    examples = examples_of(cases)
    done: set[tuple[str, str]] = set()
    for outlet in untaken:
        route = route_through(definition, outlet)
        if (outlet.node, outlet.outlet) in done or route is None:
            continue
        build = _Builder(definition, route, dialect, _id(outlet, ids))
        skeleton = _skeleton(stage, outlet, build, Values.of(definition, route, examples))
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


@dataclass(frozen=True, slots=True)
class _Builder:
    """Makes cases of one route that differ in their values alone."""

    definition: Definition
    route: Route
    dialect: Dialect
    id: str

    def case(self, values: Values) -> Case:
        """The case that follows the route with these values, if they let it."""
        case = Case(
            id=self.id,
            admitted_ms=epoch_milliseconds(ADMITTED_AT),
            input=values.known[INPUT],
            expected={},
            dialect=self.dialect,
        )
        for step, outlet in self.route.hops:
            case = _with_hop(self.definition, case, values, step, outlet)
        return case


def _skeleton(stage: Stage, outlet: Outlet, build: _Builder, values: Values) -> Skeleton:
    """The first case that takes the outlet and can be played to its end, or the best there is."""
    wanted = (outlet.node, outlet.outlet)
    nearest: Case | None = None
    tries = itertools.chain([values], values.varied())
    for tried in itertools.islice(tries, MOST_TRIES):
        case = build.case(tried)
        trace, whole = _played(stage, case)
        if trace is None or wanted not in trace.outlets:
            continue
        if whole:
            return Skeleton(case, outlet, build.route, trace)
        nearest = nearest or case
    return Skeleton(nearest or build.case(values), outlet, build.route, None)


def _played(stage: Stage, case: Case) -> tuple[Trace | None, bool]:
    """How far a case comes, and whether that is its end."""
    try:
        return stage.play(case), True
    except CaseFault as fault:
        return fault.trace, False


def _with_hop(definition: Definition, case: Case, values: Values, step: str, outlet: str) -> Case:
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
            completion = Completion(step, _MINUTE, values.known["completion", step])
            return replace(case, completions=(*case.completions, completion))
        case n.ForSignal(signal=name), "resumed":
            signal = Signal(name, values.known["signal", step], _MINUTE, step)
            return replace(case, signals=(*case.signals, signal))
        case n.ForApproval(), "approved" | "rejected":
            decision = Decision(step, outlet == "approved", _MINUTE)
            return replace(case, decisions=(*case.decisions, decision))
        case _:
            return case


def _reply(values: Values, step: str, outlet: str) -> Reply:
    if outlet == "next":
        return Reply(ReplyType.SUCCESS, values.known["reply", step])
    if outlet.startswith(n.REFUSAL_OUTLET):
        return Reply(ReplyType.DECLARED_REFUSAL, code=outlet.removeprefix(n.REFUSAL_OUTLET))
    return Reply(ReplyType.REFUSED, code="product-refused")
