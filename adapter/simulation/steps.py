"""Which step a request comes from: products are not told, so it is read off the request."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable

from adapter.authoring.samples.merging import same
from adapter.simulation.values import ABSENT, member
from interpreter.contract.values import JsonValue
from interpreter.definition import mappings as m
from interpreter.definition.document import Definition
from interpreter.definition.nodes import CallNode

_MOST_OUTPUTS = 256
_MOST_KEYS = 4_096


class Steps:
    """The call steps of a definition, in the order in which a run comes to them.

    Steps that call the same operation on the same connection are told apart by their input
    mappings: literals, member names, and values that earlier steps were answered. Where that does
    not decide, the one that was asked least is taken, the earlier first.
    """

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self._outputs: dict[str, deque[JsonValue]] = defaultdict(
            lambda: deque(maxlen=_MOST_OUTPUTS)
        )
        self._asked: Counter[str] = Counter()
        self._of_key: dict[str, str] = {}
        self._order = list(_in_order(definition))

    def of(
        self, connection: str, operation: str, input: JsonValue, key: str, unsent: Iterable[str]
    ) -> str:
        """The step of a request, empty if no step makes such calls (a poll does).

        ``unsent`` are members that no request carries. The same ``key`` is always the same step.
        """
        if key in self._of_key:
            return self._of_key[key]
        found = [
            name
            for name, node in self._order
            if self._definition.operations[node.operation].connection == connection
            and self._definition.operations[node.operation].contract.id == operation
        ]
        hidden = frozenset(unsent)
        alike = [name for name in found if len(found) == 1 or self._may(name, input, hidden)]
        if not alike and not found:
            return ""
        step = min(alike or found, key=lambda name: self._asked[name])
        self._asked[step] += 1
        if key:
            self._of_key[key] = step
            if len(self._of_key) > _MOST_KEYS:
                self._of_key.pop(next(iter(self._of_key)))
        return step

    def answered(self, step: str, output: JsonValue) -> None:
        """Remember what a step was answered."""
        if step:
            self._outputs[step].append(output)

    def _may(self, step: str, input: JsonValue, hidden: frozenset[str]) -> bool:
        node = self._definition.nodes[step]
        return isinstance(node, CallNode) and self._may_be(node.input, input, hidden)

    def _may_be(
        self, mapping: m.Mapping, value: JsonValue, hidden: frozenset[str] = frozenset()
    ) -> bool:
        """Whether a mapping can have given a value, as far as is known here."""
        match mapping:
            case m.LiteralValue():
                return same(mapping.literal, value)
            case m.ObjectOf():
                sent = {name: one for name, one in mapping.object.items() if name not in hidden}
                return (
                    isinstance(value, dict)
                    and sent.keys() == value.keys()
                    and all(self._may_be(one, value[name]) for name, one in sent.items())
                )
            case m.ListOf():
                return (
                    isinstance(value, list)
                    and len(value) == len(mapping.list)
                    and all(map(self._may_be, mapping.list, value))
                )
            case m.FirstOf():
                return any(self._may_be(one, value) for one in mapping.first)
            case m.FromStep():
                outputs = self._outputs.get(mapping.step)
                return not outputs or any(
                    (found := member(one, mapping.path)) is not ABSENT and found == value
                    for one in outputs
                )
            case _:
                return True


def _in_order(definition: Definition) -> Iterable[tuple[str, CallNode]]:
    """Call steps by their distance from the start."""
    waiting, seen = deque([definition.start]), {definition.start}
    while waiting:
        name = waiting.popleft()
        node = definition.nodes[name]
        if isinstance(node, CallNode):
            yield name, node
        for target in node.outlets.values():
            if target not in seen:
                seen.add(target)
                waiting.append(target)
