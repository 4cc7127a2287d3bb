"""The values of one skeleton case: taken from other cases, made up from schemas, or varied."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from activities.yaml.sources import pointer_parts
from adapter.authoring.samples import NoSample, generate, variants
from adapter.authoring.scenarios.routes import Route
from interpreter.contract.values import JsonValue
from interpreter.definition import mappings as m
from interpreter.definition import nodes as n
from interpreter.definition.document import Definition
from interpreter.scenario import Case, ReplyType

Key: TypeAlias = tuple[str, str]
"""What a value stands for (``input``, ``reply``, ``completion``, ``signal``) and its step."""

INPUT: Key = ("input", "")


def examples_of(cases: Iterable[Case]) -> dict[Key, JsonValue]:
    """The values that an author has written before, the first of each kind."""
    found: dict[Key, JsonValue] = {}
    for case in cases:
        found.setdefault(INPUT, case.input)
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


@dataclass(slots=True)
class Values:
    """The values of one case, and the schemas they have to fit."""

    known: dict[Key, JsonValue] = field(default_factory=dict)
    schemas: dict[Key, JsonValue] = field(default_factory=dict)

    @staticmethod
    def of(definition: Definition, route: Route, examples: Mapping[Key, JsonValue]) -> Values:
        """Values for every step of a route that needs one, steered to its labels."""
        values = Values()
        values.schemas[INPUT] = definition.input_schema
        for step, outlet in route.hops:
            values._schema_of(definition, step, outlet)
        for key, schema in values.schemas.items():
            values.known[key] = examples[key] if key in examples else _simple(schema)
        values._steer(definition, route)
        return values

    def _schema_of(self, definition: Definition, step: str, outlet: str) -> None:
        node = definition.nodes[step]
        match node:
            case n.CallNode() if outlet == "next":
                contract = definition.operations[node.operation].contract
                self.schemas["reply", step] = contract.response
            case n.WaitNode(wait=n.ForCompletion() as wait) if outlet == "completed":
                call = definition.nodes[wait.call]
                if isinstance(call, n.CallNode):
                    contract = definition.operations[call.operation].contract
                    completion = contract.completions[wait.completion]
                    self.schemas["completion", step] = completion.value_schema
            case n.WaitNode(wait=n.ForSignal() as wait) if outlet == "resumed":
                self.schemas["signal", step] = wait.signal_schema
            case _:
                pass

    def _steer(self, definition: Definition, route: Route) -> None:
        """Where a choose reads its label as it stands, put the wanted label there."""
        for step, outlet in route.hops:
            node = definition.nodes[step]
            if not isinstance(node, n.ChooseNode):
                continue
            match node.choose:
                case m.FromInput(input=pointer):
                    self._put(INPUT, pointer, outlet)
                case m.FromStep(step=source, path=pointer):
                    for kind in ("reply", "completion", "signal"):
                        self._put((kind, source), pointer, outlet)
                case _:
                    pass

    def _put(self, key: Key, pointer: str, label: str) -> None:
        if key not in self.known:
            return
        if not pointer:
            self.known[key] = label
            return
        *parents, last = pointer_parts(pointer)
        changed = copy.deepcopy(self.known[key])
        target = changed
        for part in parents:
            if not isinstance(target, dict):
                return
            target = target.setdefault(part, {})
        if isinstance(target, dict):
            target[last] = label
            self.known[key] = changed

    def varied(self) -> Iterator[Values]:
        """The same with one value replaced by a variation, and then with every two of them."""
        changes = {key: list(variants(schema)) for key, schema in self.schemas.items()}
        for key, others in changes.items():
            for other in others:
                yield Values({**self.known, key: other}, self.schemas)
        for key, others in changes.items():
            for second, seconds in changes.items():
                if second <= key:
                    continue
                for one in others:
                    for two in seconds:
                        yield Values({**self.known, key: one, second: two}, self.schemas)


def _simple(schema: JsonValue) -> JsonValue:
    """A value that fits a schema and no more, or null for the author to replace."""
    try:
        return generate(schema, "", optional=False)
    except NoSample:
        return None
