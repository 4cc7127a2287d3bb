"""The parser of switches."""

from __future__ import annotations

from collections.abc import Sequence

from interpreter.language.parsing import tokens
from interpreter.language.parsing.expressions import ExpressionParser
from interpreter.language.parsing.settings import Setting, refuse
from interpreter.language.parsing.traits import (
    NOT_LITERAL,
    as_block,
    ends_itself,
    literal_value,
    start_of_expression,
)
from interpreter.language.parsing.tree import (
    Arm,
    BlockExpression,
    Constant,
    Expression,
    RangeCase,
    Switch,
)
from interpreter.language.places import NOWHERE
from interpreter.language.values import (
    ExclusiveRange,
    InclusiveRange,
    switch_key,
)


class SwitchParser(ExpressionParser):
    """Parses switches; the statement parser builds on it."""

    def _switch(self, setting: Setting) -> Switch:
        setting = setting.deeper(self._next().place)
        node = Switch(self._expression(setting), setting.place)
        self._expect("{", "a brace is expected after the subject of a switch")
        default_place = NOWHERE
        while not self._take("}"):
            token = self._peek()
            if token.kind == tokens.END:
                raise refuse("a switch is not closed", token.place)
            literals: Sequence[Expression] = ()
            guard: Expression = Constant(True, NOWHERE)
            if token.kind == "_" and node.default is None:
                default_place = self._next().place
                if self._peek().kind == "if":
                    raise refuse("the default of a switch has no guard", self._peek().place)
            elif node.default is not None:
                raise refuse("the default of a switch must be the last case", default_place)
            else:
                literals = self._case_literals(setting)
                if self._take("if"):
                    guard = self._guard(setting)
            self._expect("=>", "'=>' is expected after a switch case")
            needs_comma = self._arm(node, literals, guard, setting)
            self._end_of_arm(needs_comma)
        return node

    def _case_literals(self, setting: Setting) -> list[Expression]:
        literals: list[Expression] = []
        while True:
            before = self._stops_at_pipe
            self._stops_at_pipe = True
            literals.append(self._expression(setting))
            self._stops_at_pipe = before
            if not self._take("|"):
                return literals

    def _arm(
        self, node: Switch, literals: Sequence[Expression], guard: Expression, setting: Setting
    ) -> bool:
        statement = self._statement(setting)
        needs_comma = not ends_itself(statement)
        node.arms.append(Arm(guard, BlockExpression(as_block(statement))))
        arm = len(node.arms) - 1
        if not literals:
            node.default = arm
        for literal in literals:
            value = literal_value(literal)
            if value is NOT_LITERAL:
                raise refuse("a switch case must be a literal", start_of_expression(literal))
            if isinstance(value, ExclusiveRange | InclusiveRange):
                if not value.is_empty():
                    node.ranges.append(RangeCase(value, arm))
            elif node.ranges and type(value) in (int, float):
                raise refuse(
                    "a number can not follow a range in a switch", start_of_expression(literal)
                )
            node.cases.setdefault(switch_key(value), []).append(arm)
        return needs_comma

    def _end_of_arm(self, needs_comma: bool) -> None:
        token = self._peek()
        if token.kind == ",":
            self._next()
        elif token.kind == "}":
            return
        elif token.kind in (tokens.END, tokens.BROKEN) or needs_comma:
            raise self._unexpected(token, "a comma is expected between the cases of a switch")
