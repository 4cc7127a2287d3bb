"""The engine's simplifications of expressions before anything runs; see ``folding``."""

from __future__ import annotations

from interpreter.language import operators
from interpreter.language.failures import Failure
from interpreter.language.parsing.tokens import is_function_name
from interpreter.language.parsing.traits import (
    NOT_LITERAL,
    is_boolean,
    is_constant,
    is_pure,
    is_unit,
    literal_value,
    move_expression,
    place_of_expression,
    start_of_expression,
)
from interpreter.language.parsing.tree import (
    ArrayLiteral,
    BlockExpression,
    Call,
    Chain,
    Constant,
    Expression,
    ExpressionStatement,
    Interpolated,
    Logic,
    MapLiteral,
    MethodCall,
    Property,
    Statement,
    This,
    Variable,
)
from interpreter.language.values import (
    INT_BITS,
    Character,
    FunctionPointer,
    Value,
    copy_value,
    type_name,
)


def constant(value: Value, place: int) -> Expression:
    """A known value as an expression; a plain function pointer becomes a call of ``Fn``."""
    if type(value) is FunctionPointer and not value.bound:
        return Call("Fn", [Constant(value.name, place)], place)
    return Constant(value, place)


class Folder:
    """Simplifies expressions; ``changed`` tells that another round may simplify more."""

    def __init__(self) -> None:
        self.changed = False
        # Names in scope, oldest first, with whether the value is a known constant and the value.
        self.constants: list[tuple[str, bool, Value]] = []

    def statements(
        self,
        statements: list[Statement],
        *,
        keep_value: bool,
        inner: bool = True,
        fold_return: bool = False,
    ) -> list[Statement]:
        """Simplify the statements of a block; the statement folder does it."""
        raise NotImplementedError

    def _known(self, name: str) -> Value:
        for other, known, value in reversed(self.constants):
            if other == name:
                return value if known else NOT_LITERAL
        return NOT_LITERAL

    def _become(self, value: Value, place: int) -> Expression:
        self.changed = True
        return constant(value, place)

    def expression(self, node: Expression, linked: bool = False) -> Expression:
        """Simplify an expression and give what stands in its place.

        ``linked``: it is the right side of a chain, so that names in it may be properties.
        """
        match node:
            case Chain():
                return self._chain(node, linked)
            case Call():
                return self._call(node)
            case Variable() if not node.path:
                value = self._known(node.name)
                if value is not NOT_LITERAL:
                    return self._become(copy_value(value), node.place)
            case BlockExpression():
                return self._block_expression(node)
            case Logic():
                return self._logic(node)
            case Interpolated():
                return self._interpolated(node)
            case ArrayLiteral():
                if is_constant(node):
                    return self._become(literal_value(node), node.place)
                node.items = [self.expression(item) for item in node.items]
            case MapLiteral():
                if is_constant(node):
                    return self._become(literal_value(node), node.place)
                node.entries = [(name, self.expression(value)) for name, value in node.entries]
            case MethodCall():
                node.arguments = [self._argument(argument) for argument in node.arguments]
        return node

    def _argument(self, node: Expression) -> Expression:
        node = self.expression(node)
        if not isinstance(node, Constant):
            value = literal_value(node)
            if value is not NOT_LITERAL:
                self.changed = True
                return Constant(value, start_of_expression(node))
        return node

    def _block_expression(self, node: BlockExpression) -> Expression:
        block = node.block
        if not block.statements:
            return self._become(None, block.start)
        only = block.statements[0] if len(block.statements) == 1 else None
        if isinstance(only, ExpressionStatement):
            self.changed = True
            return self.expression(only.expression)
        block.statements = self.statements(block.statements, keep_value=True)
        if len(block.statements) == 1:
            only = block.statements[0]
            if isinstance(only, ExpressionStatement):
                self.changed = True
                return only.expression
        return node

    # Chains ---------------------------------------------------------------------------------

    def _chain(self, node: Chain, linked: bool) -> Expression:
        left, right = node.left, node.right
        if node.optional and is_unit(left):
            self.changed = True
            return left
        if linked:
            node.left = self.expression(left)
            node.right = self.expression(right, linked)
            return node
        folded = self._dotted(left, right) if node.dotted else self._indexed(left, right)
        if folded is not None:
            return folded
        if not isinstance(left, Variable | This):
            node.left = self.expression(left)
        node.right = self.expression(right, True)
        return node

    def _dotted(self, left: Expression, right: Expression) -> Expression | None:
        if isinstance(right, Property):
            if isinstance(left, MapLiteral):
                return self._member(left, right.name)
            if isinstance(left, Variable):
                return self._constant_member(left, right.name)
        elif isinstance(right, MethodCall) and not right.arguments and is_constant(left):
            if right.name == "type_of":
                return self._become(type_name(literal_value(left)), right.place)
            if right.name == "is_shared":
                return self._become(False, right.place)
        return None

    def _member(self, left: MapLiteral, name: str) -> Expression | None:
        if not all(is_pure(value) for _, value in left.entries):
            return None
        self.changed = True
        for known, value in left.entries:
            if known == name:
                return move_expression(value, left.place)
        return Constant(None, left.place)

    def _constant_member(self, left: Variable, name: str) -> Expression | None:
        value = self._known(left.name)
        if type(value) is not dict:
            return None
        return self._become(copy_value(value.get(name)), left.place)

    def _indexed(self, left: Expression, right: Expression) -> Expression | None:
        if not isinstance(right, Constant):
            return None
        index = right.value
        if type(index) is str:
            if isinstance(left, MapLiteral):
                return self._member(left, index)
            if isinstance(left, Constant) and type(left.value) is dict:
                return self._become(left.value.get(index), left.place)
            if isinstance(left, Variable):
                return self._constant_member(left, index)
        if type(index) is not int:
            return None
        if isinstance(left, ArrayLiteral):
            if not -len(left.items) <= index < len(left.items):
                return None
            if not all(is_pure(item) for item in left.items):
                return None
            self.changed = True
            return move_expression(left.items[index], left.place)
        if isinstance(left, Constant) and type(left.value) is int:
            if -INT_BITS <= index < INT_BITS:
                return self._become(bool(left.value >> index % INT_BITS & 1), left.place)
        elif isinstance(left, Constant) and type(left.value) is str:
            if -len(left.value) <= index < len(left.value):
                return self._become(Character(left.value[index]), left.place)
        return None

    # Texts and logic ------------------------------------------------------------------------

    def _interpolated(self, node: Interpolated) -> Expression:
        if is_constant(node):
            return self._become(literal_value(node), node.place)
        parts = [self.expression(part) for part in node.parts]
        at = 0
        while at < len(parts) - 1:
            merged = _merged_parts(parts[at], parts[at + 1])
            if merged is None:
                at += 1
            else:
                parts[at : at + 2] = [merged]
                self.changed = True
        node.parts = parts
        return node

    def _logic(self, node: Logic) -> Expression:
        place = node.place
        if node.kind == "??":
            self._fold_coalesce(node)
            empty: Expression = Constant(False, place)
        else:
            decided = self._fold_boolean(node, decides=node.kind == "||")
            if decided is not None:
                return decided
            empty = Constant(node.kind == "&&", place)
        if not node.items:
            self.changed = True
            return empty
        if len(node.items) == 1:
            self.changed = True
            return node.items[0]
        return node

    def _fold_boolean(self, node: Logic, *, decides: bool) -> Expression | None:
        """Drop operands that say nothing; the constant when an operand decides everything."""
        items = node.items
        at = 0
        while at < len(items):
            item = items[at]
            if is_boolean(item, not decides):
                self.changed = True
                del items[at]
            elif is_boolean(item, decides):
                if len(items) > at + 1:
                    del items[at + 1 :]
                    self.changed = True
                if all(is_pure(before) for before in items[:at]):
                    return self._become(decides, place_of_expression(item))
                return None
            else:
                items[at] = self.expression(item)
                at += 1
        return None

    def _fold_coalesce(self, node: Logic) -> None:
        items = node.items
        at = 0
        while at < len(items):
            if is_unit(items[at]):
                self.changed = True
                del items[at]
            elif is_constant(items[at]):
                if len(items) > at + 1:
                    del items[at + 1 :]
                    self.changed = True
                return
            else:
                items[at] = self.expression(items[at])
                at += 1

    # Calls ----------------------------------------------------------------------------------

    def _call(self, node: Call) -> Expression:
        arguments = node.arguments
        if node.name == "!" and len(arguments) == 1:
            only = arguments[0]
            if isinstance(only, Constant) and type(only.value) is bool:
                return self._become(not only.value, only.place)
        if not node.path and all(is_constant(argument) for argument in arguments):
            folded = self._constant_call(node)
            if folded is not None:
                return folded
        if node.name == "Fn" and not node.path and len(arguments) == 1:
            if is_constant(arguments[0]):
                arguments[0] = self.expression(arguments[0])
                return node
        node.arguments = [self._argument(argument) for argument in arguments]
        return node

    def _constant_call(self, node: Call) -> Expression | None:
        """A call whose arguments are all known, computed when that is always allowed."""
        arguments = node.arguments
        count = len(arguments)
        if count == 1 and node.name == "Fn":
            only = arguments[0]
            if isinstance(only, Constant) and type(only.value) is str:
                if is_function_name(only.value):
                    self.changed = True
                    return Constant(FunctionPointer(only.value), node.place)
            return None
        values = [literal_value(argument) for argument in arguments]
        if count >= 2 and node.name == "curry" and isinstance(arguments[0], Constant):
            if type(values[0]) is FunctionPointer:
                self.changed = True
                return Constant(values[0].binding(values[1:]), node.place)
        if count == 1 and node.name == "type_of":
            return self._become(type_name(values[0]), node.place)
        if count == 1 and node.name == "is_shared":
            return self._become(False, node.place)
        if count == 2 and node.operator is not None:
            operation = operators.binary(node.operator, values[0], values[1])
            if operation is not None:
                try:
                    return self._become(operation(values[0], values[1]), node.place)
                except Failure:
                    return None
        return None


def _merged_parts(first: Expression, second: Expression) -> Expression | None:
    """Two neighbouring parts of a back-tick string as one, when one of them adds nothing."""
    first_text = first.value if isinstance(first, Constant) else NOT_LITERAL
    second_text = second.value if isinstance(second, Constant) else NOT_LITERAL
    if type(first_text) is str and type(second_text) is str:
        return Constant(first_text + second_text, place_of_expression(first))
    if second_text is None or second_text == "":
        return first
    if first_text is None or first_text == "":
        return second
    return None
