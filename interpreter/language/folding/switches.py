"""The engine's simplifications of switches: fixed subjects and arms that can not be chosen."""

from __future__ import annotations

from interpreter.language.folding.expressions import Folder
from interpreter.language.parsing.traits import (
    as_block,
    is_boolean,
    is_unit,
    place_of_expression,
    start_of_expression,
)
from interpreter.language.parsing.tree import (
    Arm,
    Block,
    BlockStatement,
    Constant,
    Expression,
    ExpressionStatement,
    If,
    Statement,
    Switch,
)
from interpreter.language.places import NOWHERE
from interpreter.language.values import ExclusiveRange, FunctionPointer, InclusiveRange, switch_key

# A switch over one of these is decided before anything runs; a plain number or text is not.
_FIXED_SUBJECTS = (list, dict, ExclusiveRange, InclusiveRange, FunctionPointer)


class SwitchFolder(Folder):
    """Simplifies switches; the statement folder adds all other statements."""

    def statement(self, node: Statement, keep_value: bool) -> Statement:
        raise NotImplementedError

    def _switch(self, node: Switch) -> Statement:
        subject = node.subject
        if isinstance(subject, Constant) and isinstance(subject.value, _FIXED_SUBJECTS):
            key = switch_key(subject.value)
            if key is not None:
                return self._fixed_switch(node, subject, key)
        node.subject = self.expression(subject)
        for arm in node.arms:
            arm.guard = self.expression(arm.guard)
            arm.result = self.expression(arm.result)
            if is_boolean(arm.guard, False):
                self._clear(arm)
        self._drop_cases(node)
        if node.default is not None:
            default = node.arms[node.default]
            default.result = self.expression(default.result)
        used = {index for indexes in node.cases.values() for index in indexes}
        used |= {case.arm for case in node.ranges}
        for index, arm in enumerate(node.arms):
            if index != node.default and index not in used:
                self._clear(arm)
        return node

    def _clear(self, arm: Arm) -> None:
        if not is_unit(arm.result):
            arm.result = Constant(None, place_of_expression(arm.result))
            self.changed = True

    def _drop_cases(self, node: Switch) -> None:
        """Take away arms whose guard is false and arms behind one that always fits."""
        for key, indexes in list(node.cases.items()):
            kept = [index for index in indexes if not is_boolean(node.arms[index].guard, False)]
            for position, index in enumerate(kept):
                if is_boolean(node.arms[index].guard, True):
                    kept = kept[: position + 1]
                    break
            if len(kept) != len(indexes):
                self.changed = True
            if kept:
                node.cases[key] = kept
            else:
                self.changed = True
                del node.cases[key]
        ranges = [case for case in node.ranges if not is_boolean(node.arms[case.arm].guard, False)]
        if len(ranges) != len(node.ranges):
            self.changed = True
            node.ranges = ranges

    def _fixed_switch(self, node: Switch, subject: Constant, key: object) -> Statement:
        """A switch over a constant container, range or function pointer."""
        indexes = node.cases.get(key, [])
        if len(indexes) == 1:
            arm = node.arms[indexes[0]]
            self.changed = True
            node.cases.clear()
            return self._promoted(node, arm.guard, arm.result, start_of_expression(subject))
        for index in indexes:
            arm = node.arms[index]
            guard, arm.guard = arm.guard, Constant(None, NOWHERE)
            result, arm.result = arm.result, Constant(None, NOWHERE)
            if is_boolean(guard, True):
                self.changed = True
                return self.statement(statement_of(result), True)
        # No range case can hold a container, and a range subject is found by its key above.
        if len(node.ranges) > 1 and not all(
            is_boolean(node.arms[case.arm].guard, True) for case in node.ranges
        ):
            if node.cases:
                self.changed = True
                node.cases.clear()
            self.changed = True
            node.ranges = []
            return node
        self.changed = True
        if node.default is None:
            return BlockStatement(Block([], node.place, node.place))
        return self.statement(statement_of(node.arms[node.default].result), True)

    def _promoted(
        self, node: Switch, guard: Expression, result: Expression, place: int
    ) -> Statement:
        if is_boolean(guard, True):
            return self.statement(statement_of(result), True)
        guard = self.expression(guard)
        branch = Block([], NOWHERE)
        if node.default is not None:
            default = statement_of(node.arms[node.default].result)
            branch = as_block(self.statement(default, True))
        return If(guard, as_block(statement_of(result)), branch, place)


def statement_of(node: Expression) -> Statement:
    """The statement that gives the value of an expression."""
    return ExpressionStatement(node)
