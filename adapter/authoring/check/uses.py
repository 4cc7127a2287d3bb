"""Where mapped values go: requests, labels, instants and outcomes must take them."""

from __future__ import annotations

from activities.yaml.sources import child_pointer, pointer_parts
from adapter.authoring.check.fit import cases, misfits
from adapter.authoring.check.functions import Functions
from adapter.authoring.check.shapes import Shape, of_schema, of_type
from adapter.authoring.check.values import Values
from adapter.authoring.diagnostics.diagnostic import Report
from adapter.authoring.draft import Draft
from interpreter.definition import mappings as m
from interpreter.definition import nodes as n

_UNCOVERED = "coordinator.mapping.uncovered-label"


class Uses:
    """Checks every mapping of one draft against the place where its value goes."""

    def __init__(self, draft: Draft, values: Values, functions: Functions, report: Report) -> None:
        self._draft = draft
        self._values = values
        self._functions = functions
        self._report = report

    def check(self) -> None:
        """Check all steps and triggers."""
        for name, node in self._draft.nodes.items():
            at = f"/nodes/{name}"
            match node:
                case n.CallNode():
                    self._call(name, node, at)
                case n.ChooseNode(choose=mapping) if mapping is not None:
                    self._choose(name, node, mapping, at)
                case n.WaitNode(wait=wait):
                    self._wait(name, wait, at)
                case n.FinishNode(output=mapping) if mapping is not None:
                    self._finish(name, node, mapping, at)
                case _:
                    pass
        for name, trigger in self._draft.triggers.items():
            at = f"/triggers/{name}/input"
            event = of_schema(trigger.event_schema)
            shape = self._values.of_event(trigger.input, at, event)
            self._fit(trigger.input, at, shape, self._values.input, "the workflow's input")

    def _call(self, name: str, node: n.CallNode, at: str) -> None:
        shape = self._values.of_step(name, node.input, f"{at}/input")
        operation = self._draft.operations.get(node.operation)
        if operation is None:
            target, what = of_type("object"), "the operation's input"
        else:
            contract = operation.contract
            target, what = of_schema(contract.request), f"the input of `{contract.id}`"
        self._fit(node.input, f"{at}/input", shape, target, what)

    def _finish(self, name: str, node: n.FinishNode, mapping: m.Mapping, at: str) -> None:
        shape = self._values.of_step(name, mapping, f"{at}/output")
        if node.outcome in self._draft.outcomes:
            target = of_schema(self._draft.outcomes[node.outcome])
            self._fit(mapping, f"{at}/output", shape, target, f"outcome `{node.outcome}`")

    def _wait(self, name: str, wait: n.WaitSource, at: str) -> None:
        if isinstance(wait, n.ForApproval):
            self._values.of_step(name, wait.plan, f"{at}/wait/plan")
        if not isinstance(wait, n.UntilInstant):
            return
        place = f"{at}/wait/at"
        shape = self._values.of_step(name, wait.at, place)
        target = Shape(
            types=frozenset({"string"}), format="date-time", bounds=({"format": "date-time"},)
        )
        fits = self._fit(wait.at, place, shape, target, "an instant")
        if fits and any(one.types is not None and not _instant(one) for one in cases(shape)):
            spot = self._draft.origins.find(place)
            message = "nothing says that this text is an RFC 3339 instant"
            self._report.add("coordinator.mapping.instant", spot, message)

    def _choose(self, name: str, node: n.ChooseNode, mapping: m.Mapping, at: str) -> None:
        shape = self._values.of_step(name, mapping, f"{at}/choose")
        if not self._fit(mapping, f"{at}/choose", shape, of_type("string"), "a case's label"):
            return
        given = isinstance(mapping, m.FunctionCall)
        if isinstance(mapping, m.FunctionCall):
            labels = self._functions.labels(mapping.function)
        else:
            labels = _labels(shape)
        if labels is None or (given and not self._draft.warn_labels):
            return
        for label in sorted(labels - set(node.outlets)):
            spot = self._draft.origins.find(f"{at}/outlets")
            # A function's text may stand in a branch that is never taken.
            code = _UNCOVERED if given else "coordinator.mapping.missing-case"
            message = f"no case has the label `{label}`, which the mapping can give"
            self._report.add(code, spot, message)
        for label in sorted(set(node.outlets) - labels):
            spot = self._draft.origins.find(f"{at}/outlets/{label}")
            message = f"the mapping never gives the label `{label}`"
            self._report.add("coordinator.mapping.unused-case", spot, message)

    def _fit(self, mapping: m.Mapping, at: str, shape: Shape, target: Shape, what: str) -> bool:
        """Report each part that does not fit at the innermost mapping that gives it."""
        found = misfits(shape, target)
        for one in found:
            spot = self._draft.origins.find(_inside(mapping, at, one.pointer))
            place = f"`{one.pointer}` of {what}" if one.pointer else what
            message = f"does not fit {place}: it {one.why}"
            self._report.add("coordinator.mapping.type", spot, message)
        return not found


def _labels(shape: Shape) -> frozenset[str] | None:
    """Every label that the shape allows, if they are enumerated."""
    labels: set[str] = set()
    for one in cases(shape):
        if one.values is None:
            return None
        labels |= {value for value in one.values if isinstance(value, str)}
    return frozenset(labels)


def _instant(shape: Shape) -> bool:
    return shape.format == "date-time" or shape.values is not None


def _inside(mapping: m.Mapping, at: str, pointer: str) -> str:
    """The definition pointer of the mapping that gives the value at ``pointer``."""
    for part in pointer_parts(pointer):
        if isinstance(mapping, m.ObjectOf) and part in mapping.object:
            mapping, at = mapping.object[part], child_pointer(f"{at}/object", part)
        elif isinstance(mapping, m.ListOf) and part.isdigit() and int(part) < len(mapping.list):
            mapping, at = mapping.list[int(part)], f"{at}/list/{part}"
        else:
            break
    return at
