"""A definition in words: what each step reads and does, and every way a run can end."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from adapter.authoring.check.functions import LARGEST_SOURCE_BYTES, MOST_FUNCTIONS
from adapter.authoring.formats.mappings import MOST_ARGUMENTS
from adapter.authoring.formats.project import MOST_STEPS
from interpreter.contract.operations import EffectClass, OperationContract
from interpreter.contract.values import JsonValue
from interpreter.definition import mappings as m
from interpreter.definition import nodes as n
from interpreter.definition.document import (
    LARGEST_DEFINITION_BYTES,
    Definition,
    PackagedDefinition,
)
from interpreter.language import LANGUAGE_LIMITS
from interpreter.machine.bounds import LARGEST_KEPT_BYTES, LARGEST_STEP_BYTES

_RECOVERY = {
    "read-again": "a lost answer is read again",
    "same-command": "a command that may have been sent waits for a person",
    "same-command-and-receipt": "a command that may have been sent is settled by its receipt",
    "hold-after-dispatch": "a command that may have been sent is never repeated",
}


@dataclass(frozen=True, slots=True)
class StepView:
    """One step: what it is, what it reads, where it leads, and for a call what it risks."""

    id: str
    kind: str
    title: str
    reads: tuple[str, ...]
    outlets: tuple[tuple[str, str], ...]
    does: str
    contract: OperationContract | None = None
    connection: str = ""

    def to_json(self) -> dict[str, JsonValue]:
        """``{id, kind, title, does, reads, next: [{outlet, step}], operation?, effect?, …}``."""
        view: dict[str, JsonValue] = {
            "id": self.id,
            "kind": self.kind,
            "title": self.title,
            "does": self.does,
            "reads": list(self.reads),
            "next": [{"outlet": outlet, "step": step} for outlet, step in self.outlets],
        }
        if self.contract is not None:
            view |= {
                "operation": self.contract.id,
                "connection": self.connection,
                "effect": self.contract.effect.value,
                "recovery": self.contract.recovery.value,
                "receipt": self.contract.receipt,
                "refusals": list(self.contract.refusals),
            }
        return view


@dataclass(frozen=True, slots=True)
class Ending:
    """One way a run can end: its state, outcome or failure code, and what leads there."""

    state: str
    name: str
    because: str
    route: tuple[str, ...] = ()

    def to_json(self) -> dict[str, JsonValue]:
        """``{state, name, because, route}``."""
        return {
            "state": self.state,
            "name": self.name,
            "because": self.because,
            "route": list(self.route),
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that ``explain`` tells about a definition."""

    packaged: PackagedDefinition
    steps: tuple[StepView, ...]
    endings: tuple[Ending, ...]

    def to_json(self) -> dict[str, JsonValue]:
        """One JSON object; its members are documented in docs/reference/project-format.md."""
        definition, labels = self.packaged.definition, self.packaged.labels
        return {
            "workflow": definition.id,
            "version": labels.version,
            "title": labels.title,
            "revision": definition.revision,
            "start": definition.start,
            "deadlineSeconds": definition.deadline_seconds,
            "connections": dict(sorted(definition.connections.items())),
            "triggers": {name: one.event for name, one in sorted(definition.triggers.items())},
            "outcomes": sorted(definition.outcomes),
            "language": definition.functions.profile if definition.functions else None,
            "limits": _limits(),
            "networkAccess": False,
            "databaseAccess": False,
            "secretResolution": False,
            "steps": [step.to_json() for step in self.steps],
            "endings": [ending.to_json() for ending in self.endings],
        }

    def to_text(self) -> str:
        """The same for a person at a terminal."""
        definition, labels = self.packaged.definition, self.packaged.labels
        lines = [
            f"{labels.title} ({definition.id})" if labels.title else definition.id,
            f"revision {definition.revision}",
            f"ends at the latest {_span(definition.deadline_seconds)} after it was admitted",
            "",
            "Steps",
            *(line for step in self.steps for line in _step_lines(step)),
            "",
            "Ways to end",
            *(line for ending in self.endings for line in _ending_lines(ending)),
        ]
        return "\n".join(lines) + "\n"


def explain(packaged: PackagedDefinition) -> Explanation:
    """Explain a definition; steps come in the order in which routes reach them."""
    definition = packaged.definition
    order = routes_from_start(definition)
    titles = packaged.labels.nodes
    steps = tuple(_view(name, titles.get(name, ""), definition) for name in order)
    endings = (*_finishes(definition, order), *_failures(definition, order), *_always(definition))
    return Explanation(packaged, steps, endings)


def _limits() -> dict[str, JsonValue]:
    """What bounds every project: its size, the source of its functions and each of their calls."""
    return {
        "steps": MOST_STEPS,
        "maximumFunctions": MOST_FUNCTIONS,
        "maximumArguments": MOST_ARGUMENTS,
        "sourceBytes": LARGEST_SOURCE_BYTES,
        "stepBytes": LARGEST_STEP_BYTES,
        "keptBytes": LARGEST_KEPT_BYTES,
        "definitionBytes": LARGEST_DEFINITION_BYTES,
        **LANGUAGE_LIMITS,
    }


def routes_from_start(definition: Definition) -> dict[str, tuple[str, ...]]:
    """A shortest route to every step that is reached, nearest steps first."""
    routes: dict[str, tuple[str, ...]] = {definition.start: (definition.start,)}
    waiting = deque([definition.start])
    while waiting:
        name = waiting.popleft()
        for target in definition.nodes[name].outlets.values():
            if target not in routes:
                routes[target] = (*routes[name], target)
                waiting.append(target)
    return routes


def _view(name: str, title: str, definition: Definition) -> StepView:
    node = definition.nodes[name]
    reads = tuple(dict.fromkeys(read for one in mappings_of(node) for read in _reads(one)))
    outlets = tuple(node.outlets.items())
    kind = node.wait.type if isinstance(node, n.WaitNode) else node.kind
    does = _does(node, definition)
    if isinstance(node, n.CallNode):
        operation = definition.operations[node.operation]
        return StepView(
            name, kind, title, reads, outlets, does, operation.contract, operation.connection
        )
    return StepView(name, kind, title, reads, outlets, does)


def mappings_of(node: n.AnyNode) -> list[m.Mapping]:
    """Every mapping that a node evaluates."""
    match node:
        case n.CallNode():
            return [node.input]
        case n.ChooseNode():
            return [*([node.choose] if node.choose else []), *(one.when for one in node.cases)]
        case n.MapNode():
            return [node.value]
        case n.WaitNode(wait=n.UntilInstant() as wait):
            return [wait.at]
        case n.WaitNode(wait=n.ForApproval() as wait):
            return [wait.plan]
        case n.FinishNode(output=output) if output is not None:
            return [output]
        case n.EachNode(items=items) if items is not None:
            return [items]
        case _:
            return []


def _reads(mapping: m.Mapping) -> Iterator[str]:
    match mapping:
        case m.FromInput():
            yield f"input {mapping.input}".rstrip()
        case m.FromStep():
            yield f"step {mapping.step} {mapping.path}".rstrip()
        case m.FromContext():
            yield f"context {mapping.context}"
        case m.FunctionCall():
            yield f"function {mapping.function}"
    for part in parts_of(mapping):
        yield from _reads(part)


def parts_of(mapping: m.Mapping) -> list[m.Mapping]:
    """The mappings directly inside a mapping."""
    match mapping:
        case m.ObjectOf():
            return list(mapping.object.values())
        case m.ListOf():
            return list(mapping.list)
        case m.FunctionCall():
            return list(mapping.arguments)
        case m.FirstOf():
            return list(mapping.first)
        case _:
            return []


def _does(node: n.AnyNode, definition: Definition) -> str:
    match node:
        case n.CallNode():
            return f"calls {definition.operations[node.operation].contract.id}"
        case n.ChooseNode():
            return "chooses a way"
        case n.MapNode():
            return "computes a value"
        case n.WaitNode(wait=wait):
            return _waits(wait)
        case n.FinishNode():
            return f"ends the run with outcome {node.outcome}"
        case n.EachNode():
            return f"does the same for each item, {node.parallelism} at a time"
        case n.JoinNode():
            return f"gathers {node.each}"


def _waits(wait: n.WaitSource) -> str:
    match wait:
        case n.UntilInstant():
            return "waits until an instant"
        case n.ForDuration():
            return f"waits {_span(wait.seconds)}"
        case n.ForCompletion():
            span = _span(wait.timeout_seconds)
            return f"waits for {wait.completion} of {wait.call}, at most {span}"
        case n.ForSignal():
            return f"waits for signal {wait.signal}, at most {_span(wait.timeout_seconds)}"
        case n.ForApproval():
            return f"waits for a person's approval, at most {_span(wait.timeout_seconds)}"


def _finishes(definition: Definition, routes: dict[str, tuple[str, ...]]) -> Iterator[Ending]:
    for name, route in routes.items():
        node = definition.nodes[name]
        if isinstance(node, n.FinishNode):
            state = "cancelled" if _only_after_cancel(definition, name) else "finished"
            yield Ending(state, node.outcome, f"step {name} is reached", route)


def _only_after_cancel(definition: Definition, name: str) -> bool:
    """True when every route to a step goes through a wait's cancel outlet."""
    seen = {definition.start}
    waiting = [definition.start]
    while waiting:
        for outlet, target in definition.nodes[waiting.pop()].outlets.items():
            if outlet != "cancelled" and target not in seen:
                seen.add(target)
                waiting.append(target)
    return name not in seen


def _failures(definition: Definition, routes: dict[str, tuple[str, ...]]) -> Iterator[Ending]:
    for name, route in routes.items():
        node = definition.nodes[name]
        if isinstance(node, n.CallNode):
            contract = definition.operations[node.operation].contract
            routed = all(f"{n.REFUSAL_OUTLET}{code}" in node.outlets for code in contract.refusals)
            if not (routed and "failed" in node.outlets):
                because = f"{contract.id} refuses at step {name}, and no route is given for it"
                yield Ending("failed", "product-refused", because, route)
            if contract.effect is not EffectClass.READ:
                because = f"nobody knows whether the command of step {name} was applied"
                yield Ending("attention", "unknown effect", because, route)
        elif isinstance(node, n.WaitNode) and "expired" not in node.outlets:
            if not isinstance(node.wait, n.UntilInstant | n.ForDuration):
                because = f"step {name} waits too long, and no route is given for it"
                yield Ending("failed", "wait-timeout", because, route)


def _always(definition: Definition) -> Iterator[Ending]:
    span = _span(definition.deadline_seconds)
    yield Ending("expired", "deadline", f"the run is not over {span} after it was admitted")
    if all(one.contract.effect is EffectClass.READ for one in definition.operations.values()):
        yield Ending("cancelled", "cancel", "somebody cancels the run")
    else:
        because = "somebody cancels the run before an effect was accepted"
        yield Ending("cancelled", "cancel", because)
        because = "somebody cancels the run after an effect"
        yield Ending("cancelled-after-effect", "cancel", because)
    if any(
        isinstance(part, m.FunctionCall)
        for node in definition.nodes.values()
        for whole in mappings_of(node)
        for part in _all_parts(whole)
    ):
        yield Ending("failed", "function", "a function throws or uses up its operations")


def _all_parts(mapping: m.Mapping) -> Iterator[m.Mapping]:
    yield mapping
    for part in parts_of(mapping):
        yield from _all_parts(part)


def _step_lines(step: StepView) -> Iterator[str]:
    yield f"  {step.id}: {step.title or step.does}"
    if step.title:
        yield f"      {step.does}"
    if step.contract is not None:
        yield f"      on {step.connection}, effect {step.contract.effect.value}"
        yield f"      {_RECOVERY[step.contract.recovery.value]}"
    if step.reads:
        yield f"      reads {', '.join(step.reads)}"
    for outlet, target in step.outlets:
        yield f"      {outlet} -> {target}"


def _ending_lines(ending: Ending) -> Iterator[str]:
    yield f"  {ending.state}, {ending.name}: {ending.because}"
    if ending.route:
        yield f"      {' -> '.join(ending.route)}"


def _span(seconds: int) -> str:
    """A number of seconds in the largest unit that divides it."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        if seconds % size == 0:
            count = seconds // size
            return f"{count} {unit}{'' if count == 1 else 's'}"
    raise AssertionError("every number is a number of seconds")
