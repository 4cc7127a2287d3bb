"""What each mapping gives: the proof that what it reads exists on every route, and its shape."""

from __future__ import annotations

from dataclasses import dataclass, replace

from activities.yaml.sources import child_pointer
from adapter.authoring.check.functions import Functions
from adapter.authoring.check.members import Member, Presence, member
from adapter.authoring.check.outputs import Outputs
from adapter.authoring.check.routes import NOT_RUN, Routes
from adapter.authoring.check.shapes import (
    ANY,
    Shape,
    Thunk,
    either,
    of_items,
    of_members,
    of_schema,
    of_type,
    of_value,
)
from adapter.authoring.diagnostics.diagnostic import Report
from adapter.authoring.diagnostics.nearest import suggestion
from adapter.authoring.draft import Draft
from interpreter.definition import mappings as m
from interpreter.definition.nodes import REFUSAL_OUTLET, CallNode
from interpreter.machine.mappings import steps_read

_MOST_ROUTE_SETS = 256
_ABSENT = frozenset({NOT_RUN})

_CONTEXT = {
    "/runId": of_type("string"),
    "/admittedAt": of_type("string", "date-time"),
    "/deadlineAt": of_type("string", "date-time"),
    "/attempt": of_type("integer"),
    "/workflow": of_type("string"),
    "/version": of_type("string"),
}


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads: a step, and of the routes to it those that avoid ``without``.

    On these routes the steps of ``ran`` have run. ``step`` None reads an event, before any run.
    """

    step: str | None
    input: Shape
    without: frozenset[str] = frozenset()
    ran: frozenset[str] = frozenset()


class Values:
    """Infers the shapes of one draft's mappings and reports what they can not read.

    ``called`` are the functions that the mappings judged so far need.
    """

    def __init__(self, draft: Draft, routes: Routes, functions: Functions, report: Report) -> None:
        self._draft = draft
        self._routes = routes
        self._functions = functions
        self._report = report
        self._outputs = Outputs(draft)
        self.called: set[str] = set()
        self.input = of_schema(draft.input_schema)

    def of_step(self, step: str, mapping: m.Mapping, at: str) -> Shape:
        """The shape that a step's mapping gives; ``at`` is its pointer in the definition."""
        return self._infer(mapping, at, Reader(step, self.input))

    def of_event(self, mapping: m.Mapping, at: str, event: Shape) -> Shape:
        """The shape that a trigger's mapping gives for an event's data."""
        return self._infer(mapping, at, Reader(None, event))

    def _infer(self, mapping: m.Mapping, at: str, reader: Reader) -> Shape:
        match mapping:
            case m.FromInput():
                what = "the input" if reader.step is not None else "the event's data"
                return self._member(reader.input, mapping.input, f"{at}/input", what)
            case m.FromStep():
                return self._of_step(mapping, at, reader)
            case m.LiteralValue():
                return of_value(mapping.literal)
            case m.ObjectOf():
                shapes = {
                    name: self._infer(inner, child_pointer(f"{at}/object", name), reader)
                    for name, inner in mapping.object.items()
                }
                return of_members({name: _given(shape) for name, shape in shapes.items()})
            case m.ListOf():
                items = [
                    self._infer(inner, f"{at}/list/{index}", reader)
                    for index, inner in enumerate(mapping.list)
                ]
                return of_items(tuple(_given(shape) for shape in items))
            case m.FunctionCall():
                return self._function(mapping, at, reader)
            case m.FromContext():
                return self._context(mapping, at, reader)
            case m.FirstOf():
                return self._first(mapping, at, reader)

    def _member(self, shape: Shape, pointer: str, at: str, what: str) -> Shape:
        found = member(shape, pointer)
        spot = self._draft.origins.find(at)
        remedy = suggestion(_last(found), found.known)
        match found.presence:
            case Presence.MISSING:
                message = f"{what} has no member at `{found.at}`"
                self._report.add("coordinator.mapping.missing-member", spot, message, remedy)
                return ANY
            case Presence.OPTIONAL:
                message = f"the member at `{found.at}` of {what} may be absent"
                self._report.add("coordinator.mapping.optional-member", spot, message)
            case Presence.UNPROVEN:
                message = f"nothing says that {what} has a member at `{found.at}`"
                self._report.add("coordinator.mapping.unproven-member", spot, message)
            case Presence.SURE:
                pass
        return found.shape

    def _of_step(self, mapping: m.FromStep, at: str, reader: Reader) -> Shape:
        spot = self._draft.origins.find(at)
        if not self._readable(mapping.step, at, reader):
            return ANY
        standing = self._routes.before(reader.step or "", reader.without)
        if standing is None:
            return ANY
        outlets = standing.get(mapping.step, _ABSENT)
        if NOT_RUN in outlets and mapping.step not in reader.ran and self._draft.whole:
            if self._never_after(mapping.step, reader):
                message = f"step `{mapping.step}` never runs before this step"
            else:
                message = f"step `{mapping.step}` has not run on every route that leads here"
            self._report.add("coordinator.mapping.dominance", spot, message)
        shapes = []
        for outlet in sorted(outlets - {NOT_RUN}):
            if not self._outputs.known(mapping.step, outlet):
                shapes.append(ANY)
                continue
            whole = self._outputs.shape(mapping.step, outlet)
            what = f"the output of step `{mapping.step}`{_through(outlet)}"
            shapes.append(self._member(whole, mapping.path, f"{at}/path", what))
        return either(shapes) if shapes else ANY

    def _never_after(self, step: str, reader: Reader) -> bool:
        standing = self._routes.before(reader.step or "") or {}
        return standing.get(step, _ABSENT) == _ABSENT

    def _readable(self, step: str, at: str, reader: Reader) -> bool:
        spot = self._draft.origins.find(at)
        if reader.step is None:
            message = "a trigger reads the event's data, not a step"
            self._report.add("coordinator.mapping.reference", spot, message, "use `{input: …}`")
            return False
        declared = self._draft.declared("steps")
        if step not in declared:
            message = f"step `{step}` is not declared"
            remedy = suggestion(step, declared)
            self._report.add("coordinator.mapping.reference", spot, message, remedy)
            return False
        node = self._draft.nodes.get(step)
        if self._draft.calls_only and node is not None and not isinstance(node, CallNode):
            message = f"step `{step}` is no call and has no output in this format"
            self._report.add("coordinator.mapping.dominance", spot, message, "name a call step")
            return False
        return node is not None

    def _function(self, mapping: m.FunctionCall, at: str, reader: Reader) -> Shape:
        self.called.add(mapping.function)
        self._functions.check_call(mapping, self._draft.origins.find(at), self._report)
        for index, argument in enumerate(mapping.arguments):
            self._infer(argument, f"{at}/arguments/{index}", reader)
        # Which of its texts a function gives is not known, but then it gives nothing else.
        labels = self._functions.labels(mapping.function)
        return ANY if labels is None else of_type("string")

    def _context(self, mapping: m.FromContext, at: str, reader: Reader) -> Shape:
        if reader.step is None:
            spot = self._draft.origins.find(at)
            message = "a trigger has no run yet whose facts it could read"
            self._report.add("coordinator.mapping.context", spot, message)
        return _CONTEXT[mapping.context]

    def _first(self, mapping: m.FirstOf, at: str, reader: Reader) -> Shape:
        """One alternative after another, each on the routes where no earlier one has a value.

        A route is described by the steps that it avoids: an alternative has no value on exactly
        the routes that avoid one of its steps (the machine's own rule).
        """
        if reader.step is None or self._routes.before(reader.step) is None:
            return ANY
        shapes: list[Shape] = []
        left = [reader.without]
        for index, alternative in enumerate(mapping.first):
            place = f"{at}/first/{index}"
            steps = steps_read(alternative) - reader.ran
            taken = [one for one in left if self._may_have_run(reader.step, steps, one)]
            if not taken and self._draft.whole:
                message = "no route that leads here is left for this alternative"
                spot = self._draft.origins.find(place)
                self._report.add("coordinator.mapping.unused-alternative", spot, message)
            for without in taken:
                inner = replace(reader, without=without, ran=reader.ran | steps)
                shapes.append(self._infer(alternative, place, inner))
            left = self._avoiding(reader.step, left, steps)
        if left and self._draft.whole:
            spot = self._draft.origins.find(at)
            message = "on some route that leads here no alternative has run"
            remedy = "add an alternative for that route; the last one may be a `literal`"
            self._report.add("coordinator.mapping.dominance", spot, message, remedy)
        return either(shapes) if shapes else ANY

    def _may_have_run(self, reader: str, steps: frozenset[str], without: frozenset[str]) -> bool:
        """True when on some of these routes all the steps may have run, or one is unknown."""
        standing = self._routes.before(reader, without) or {}
        return all(
            step not in self._draft.nodes or standing.get(step, _ABSENT) != _ABSENT
            for step in steps
        )

    def _avoiding(
        self, reader: str, left: list[frozenset[str]], steps: frozenset[str]
    ) -> list[frozenset[str]]:
        """The routes of ``left`` on which one of ``steps`` has not run."""
        further = dict.fromkeys(without | {step} for without in left for step in sorted(steps))
        live = [one for one in further if self._routes.before(reader, one) is not None]
        return live[:_MOST_ROUTE_SETS]


def _given(shape: Shape) -> Thunk:
    return lambda: shape


def _through(outlet: str) -> str:
    if outlet in ("next", "completed", "resumed"):
        return ""
    if outlet.startswith(REFUSAL_OUTLET):
        return f" after the refusal `{outlet.removeprefix(REFUSAL_OUTLET)}`"
    return f" after `{outlet}`"


def _last(found: Member) -> str:
    return found.at.rpartition("/")[2]
