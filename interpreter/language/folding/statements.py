"""The engine's simplifications of statements before anything runs.

They are part of the language here, because they decide how many operations a call takes and which
errors it can meet: constants are inserted and computed, code that can not run or has no effect is
dropped, and blocks are merged. Expressions and switches are in files of
their own.
"""

from __future__ import annotations

from collections.abc import Callable

from interpreter.language.folding.switches import SwitchFolder, statement_of
from interpreter.language.parsing.tokens import COMPOUND_OF
from interpreter.language.parsing.traits import (
    depends_on_block,
    gives_value,
    is_boolean,
    is_constant,
    is_pure,
    is_pure_inside,
    is_pure_statement,
    is_unit,
    literal_value,
    place_of_expression,
    place_of_statement,
    start_of_expression,
)
from interpreter.language.parsing.tree import (
    Assignment,
    Block,
    BlockExpression,
    BlockStatement,
    Call,
    CallStatement,
    DoLoop,
    Empty,
    ExpressionStatement,
    For,
    Function,
    If,
    Let,
    Logic,
    LoopExit,
    Return,
    Statement,
    Switch,
    TryCatch,
    Variable,
    While,
)


def fold_function(function: Function) -> None:
    """Simplify the body of a function in place."""
    folder = StatementFolder()
    body = function.body
    body.statements = folder.statements(
        body.statements, keep_value=True, inner=False, fold_return=True
    )


class StatementFolder(SwitchFolder):
    """Simplifies statements until nothing changes any more."""

    def statements(
        self,
        statements: list[Statement],
        *,
        keep_value: bool,
        inner: bool = True,
        fold_return: bool = False,
    ) -> list[Statement]:
        """Simplify the statements of one block.

        ``keep_value``: the value of the last statement is used. ``inner``: the block has a scope
        of its own, so that definitions at its end have no effect. ``fold_return``: it is the body
        of a function, so that a return at its end can go.
        """
        if not statements:
            return statements
        pure = is_pure_inside if inner else is_pure_statement
        was_changed = self.changed
        statements, merged = _merged(statements)
        was_changed = was_changed or merged
        while True:
            self.changed = False
            depth = len(self.constants)
            statements = self._without_dead(statements)
            self._each(statements, keep_value)
            self._drop_pure(statements, keep_value, pure)
            if keep_value:
                statements = self._fold_end(statements, pure, fold_return)
            else:
                self._drop_end(statements, pure, fold_return)
            del self.constants[depth:]
            if not self.changed:
                break
            was_changed = True
        self.changed = was_changed
        return statements

    def _without_dead(self, statements: list[Statement]) -> list[Statement]:
        for index, statement in enumerate(statements):
            if isinstance(statement, Return | LoopExit):
                if index + 1 < len(statements):
                    self.changed = True
                return statements[: index + 1]
        return statements

    def _each(self, statements: list[Statement], keep_value: bool) -> None:
        last = len(statements) - 1
        for index, statement in enumerate(statements):
            if isinstance(statement, Let):
                statement.value = self.expression(statement.value)
                known = statement.constant and is_constant(statement.value)
                value = literal_value(statement.value) if known else None
                self.constants.append((statement.name, known, value))
            else:
                statements[index] = self.statement(statement, keep_value and index == last)

    def _drop_pure(
        self, statements: list[Statement], keep_value: bool, pure: Callable[[Statement], bool]
    ) -> None:
        last_effect = 0
        for index, statement in enumerate(statements):
            if not pure(statement):
                last_effect = index
        index = 0
        while index < len(statements):
            if keep_value and index >= len(statements) - 1:
                break
            statement = statements[index]
            if pure(statement) and index >= last_effect:
                del statements[index]
            elif _reads_variable(statement) or is_pure_statement(statement):
                if index < last_effect:
                    last_effect -= 1
                del statements[index]
            else:
                index += 1
                continue
            self.changed = True

    def _fold_end(
        self,
        statements: list[Statement],
        pure: Callable[[Statement], bool],
        fold_return: bool,
    ) -> list[Statement]:
        """Simplify the end of a block whose value is used."""
        while statements:
            last = statements[-1]
            returns = fold_return and isinstance(last, Return) and not last.throws
            before = statements[-2] if len(statements) > 1 else None
            if before is None:
                if returns and isinstance(last, Return) and last.value is None:
                    self.changed = True
                    return []
                if not gives_value(last) and pure(last):
                    self.changed = True
                    return []
            elif returns and isinstance(last, Return) and last.value is None:
                if not gives_value(before):
                    self.changed = True
                    statements.pop()
                    continue
            if returns and isinstance(last, Return):
                self.changed = True
                statements[-1] = (
                    Empty(last.place) if last.value is None else ExpressionStatement(last.value)
                )
                continue
            if before is None or gives_value(last) or not pure(last):
                return statements
            if not gives_value(before):
                statements.pop()
            elif isinstance(last, Empty):
                return statements
            else:
                statements[-1] = Empty(place_of_statement(last))
            self.changed = True
        return statements

    def _drop_end(
        self, statements: list[Statement], pure: Callable[[Statement], bool], fold_return: bool
    ) -> None:
        """Drop what has no effect at the end of a block whose value is not used."""
        while statements:
            last = statements[-1]
            returns = (
                fold_return
                and isinstance(last, Return)
                and not last.throws
                and (last.value is None or is_pure(last.value))
            )
            if not returns and not pure(last):
                return
            self.changed = True
            statements.pop()

    # One statement --------------------------------------------------------------------------

    def statement(self, node: Statement, keep_value: bool) -> Statement:
        """Simplify one statement and give what stands in its place."""
        match node:
            case Assignment():
                self._assignment(node)
            case If():
                return self._if(node, keep_value)
            case Switch():
                return self._switch(node)
            case While():
                return self._while(node)
            case DoLoop():
                node.condition = self.expression(node.condition)
                self._block(node.body, keep_value=False)
            case For():
                node.iterable = self.expression(node.iterable)
                self._block(node.body, keep_value=False)
            case BlockStatement():
                return self._block_statement(node, keep_value)
            case TryCatch():
                return self._try(node)
            case ExpressionStatement():
                return self._expression_statement(node)
            case CallStatement():
                folded = self.expression(node.call)
                return CallStatement(folded) if isinstance(folded, Call) else statement_of(folded)
            case LoopExit() | Return() if node.value is not None:
                node.value = self.expression(node.value)
        return node

    def _block(self, block: Block, *, keep_value: bool) -> None:
        block.statements = self.statements(block.statements, keep_value=keep_value)

    def _assignment(self, node: Assignment) -> None:
        left, right = node.left, node.right
        if (
            node.compound is None
            and isinstance(left, Variable)
            and not left.path
            and isinstance(right, Call)
            and right.name in COMPOUND_OF
            and len(right.arguments) == 2
        ):
            first = right.arguments[0]
            if isinstance(first, Variable) and not first.path and first.name == left.name:
                self.changed = True
                node.compound = COMPOUND_OF[right.name]
                node.place = right.place
                node.right = right.arguments[1]
                return
        if not isinstance(left, Variable):
            node.left = self.expression(left)
        node.right = self.expression(right)

    def _if(self, node: If, keep_value: bool) -> Statement:
        if not node.body.statements and not node.branch.statements:
            self.changed = True
            place = start_of_expression(node.condition)
            condition = ExpressionStatement(self.expression(node.condition))
            if not keep_value:
                return condition
            return BlockStatement(Block([condition, Empty(place)], place))
        for value, taken in ((False, node.branch), (True, node.body)):
            if is_boolean(node.condition, value):
                self.changed = True
                if not value and not taken.statements:
                    return Empty(place_of_expression(node.condition))
                self._block(taken, keep_value=keep_value)
                return BlockStatement(taken) if taken.statements else Empty(taken.start)
        only = node.body.statements[0] if len(node.body.statements) == 1 else None
        if not node.branch.statements and isinstance(only, If) and not only.branch.statements:
            self._merge_ifs(node, only, keep_value)
            return node
        node.condition = self.expression(node.condition)
        self._block(node.body, keep_value=keep_value)
        self._block(node.branch, keep_value=keep_value)
        return node

    def _merge_ifs(self, node: If, only: If, keep_value: bool) -> None:
        self.changed = True
        node.body.statements = self.statements(only.body.statements, keep_value=keep_value)
        second = self.expression(only.condition)
        first = node.condition
        if isinstance(first, Logic) and first.kind == "&&":
            first.items.append(second)
        else:
            node.condition = Logic("&&", [self.expression(first), second], node.place)

    def _while(self, node: While) -> Statement:
        if node.condition is not None:
            if is_boolean(node.condition, False):
                self.changed = True
                return Empty(place_of_expression(node.condition))
            node.condition = self.expression(node.condition)
            if is_boolean(node.condition, True) or is_unit(node.condition):
                node.condition = None
        self._block(node.body, keep_value=False)
        return node

    def _block_statement(self, node: BlockStatement, keep_value: bool) -> Statement:
        self._block(node.block, keep_value=keep_value)
        statements = node.block.statements
        if not statements:
            self.changed = True
            return Empty(node.block.start)
        if len(statements) == 1 and not depends_on_block(statements[0]):
            self.changed = True
            return statements[0]
        return node

    def _try(self, node: TryCatch) -> Statement:
        if all(is_pure_statement(statement) for statement in node.body.statements):
            self.changed = True
            self._block(node.body, keep_value=False)
            return BlockStatement(node.body)
        self._block(node.body, keep_value=False)
        self._block(node.branch, keep_value=False)
        return node

    def _expression_statement(self, node: ExpressionStatement) -> Statement:
        inner = node.expression
        if isinstance(inner, BlockExpression):
            self.changed = True
            if not inner.block.statements:
                return Empty(inner.block.start)
            self._block(inner.block, keep_value=True)
            return BlockStatement(inner.block)
        if isinstance(inner, Call):
            self.changed = True
            return CallStatement(inner)
        node.expression = self.expression(inner)
        return node


def _reads_variable(node: Statement) -> bool:
    return isinstance(node, ExpressionStatement) and isinstance(node.expression, Variable)


def _merged(statements: list[Statement]) -> tuple[list[Statement], bool]:
    """Blocks without definitions, opened into the statements around them."""
    changed = False
    index = 0
    while index < len(statements):
        node = statements[index]
        if isinstance(node, BlockStatement) and not any(
            depends_on_block(inner) for inner in node.block.statements
        ):
            statements = [*statements[:index], *node.block.statements, *statements[index + 1 :]]
            changed = True
        else:
            index += 1
    return statements, changed
