"""The parser of expressions: operands, links, operators, and the depth limit of the engine."""

from __future__ import annotations

from interpreter.language.parsing import tokens
from interpreter.language.parsing.chains import dot, joined
from interpreter.language.parsing.reader import TokenReader
from interpreter.language.parsing.settings import Setting, refuse
from interpreter.language.parsing.tokens import Token
from interpreter.language.parsing.traits import (
    as_block,
    place_of_expression,
    start_of_expression,
)
from interpreter.language.parsing.tree import (
    ArrayLiteral,
    BlockExpression,
    BlockStatement,
    Call,
    Chain,
    Constant,
    Expression,
    Interpolated,
    Logic,
    MapLiteral,
    Path,
    Statement,
    This,
    Variable,
)
from interpreter.language.values import (
    INT_MIN,
    MAXIMUM_ARRAY,
    MAXIMUM_MAP,
    Character,
)


class ExpressionParser(TokenReader):
    """Parses expressions; the statement parser adds what stands between braces."""

    # What the statement parser provides ---------------------------------------------------

    def _block(self, setting: Setting) -> BlockStatement:
        raise NotImplementedError

    def _statement(self, setting: Setting) -> Statement:
        raise NotImplementedError

    def _statement_expression(self, kind: str, setting: Setting) -> Statement:
        raise NotImplementedError

    # Expressions ----------------------------------------------------------------------------

    def _expression(self, setting: Setting) -> Expression:
        inner = setting.copy()
        inner.place = self._peek().place
        inner = inner.deeper()
        left = self._unary(inner)
        return self._binary(inner, 1, left)

    def _unary(self, setting: Setting) -> Expression:
        token = self._peek()
        if self._stops_at_pipe and token.kind == "|":
            raise refuse("an expression is expected", token.place)
        setting = setting.copy()
        setting.place = token.place
        if token.kind in ("-", tokens.UNARY_MINUS):
            self._next()
            return self._negated(self._unary(setting.deeper()), token.place)
        if token.kind in ("+", tokens.UNARY_PLUS):
            self._next()
            operand = self._unary(setting.deeper())
            if isinstance(operand, Constant) and type(operand.value) in (int, float):
                return operand
            return Call("+", [operand], token.place, operator=tokens.UNARY_PLUS)
        if token.kind == "!":
            self._next()
            return Call("!", [self._unary(setting.deeper())], token.place, operator="!")
        if token.kind == tokens.END:
            raise refuse("the source ends too early", token.place)
        return self._primary(setting, after_dot=False)

    @staticmethod
    def _negated(operand: Expression, place: int) -> Expression:
        if isinstance(operand, Constant):
            number = operand.value
            if type(number) is int:
                return Constant(float(-number) if number == INT_MIN else -number, place)
            if type(number) is float:
                return Constant(-number, place)
        return Call("-", [operand], place, operator=tokens.UNARY_MINUS)

    def _precedence(self, token: Token) -> int:
        if token.kind == tokens.RESERVED and not tokens.is_word(token.value):
            raise refuse(f"'{token.value}' is no operator of the language", token.place)
        return tokens.PRECEDENCE.get(token.kind, 0)

    def _binary(self, setting: Setting, parent: int, root: Expression) -> Expression:
        setting = setting.copy()
        setting.place = place_of_expression(root)
        while True:
            token = self._peek()
            if self._stops_at_pipe and token.kind == "|":
                return root
            precedence = self._precedence(token)
            binds_right = token.kind == "**"
            if precedence < parent or (precedence == parent and not binds_right):
                return root
            self._next()
            right = self._right_operand(token, setting)
            following = self._precedence(self._peek())
            if precedence < following or (precedence == following and binds_right):
                right = self._binary(setting.deeper(), precedence, right)
            setting = setting.deeper()
            setting.place = token.place
            root = self._operation(token, root, right)

    def _right_operand(self, token: Token, setting: Setting) -> Expression:
        following = self._peek()
        if token.kind == "??" and following.kind in ("break", "continue", "return", "throw"):
            return BlockExpression(as_block(self._statement(setting)))
        if token.kind in ("..", "..=") and following.kind in ("]", ")", "}", ",", ";", "=>"):
            return Constant(None, following.place)
        return self._unary(setting)

    def _operation(self, token: Token, left: Expression, right: Expression) -> Expression:
        kind, place = token.kind, token.place
        if kind in ("&&", "||"):
            return self._logic(kind, _boolean(left), _boolean(right), place)
        if kind == "??":
            return self._logic(kind, left, right, place)
        if kind == "in":
            return Call("contains", [right, left], place)
        if kind == "!in":
            call = Call("contains", [right, left], place, operator="!in")
            return Call("!", [call], place, operator="!")
        return Call(kind, [left, right], place, operator=kind)

    @staticmethod
    def _logic(kind: str, left: Expression, right: Expression, place: int) -> Expression:
        right_is_same = isinstance(right, Logic) and right.kind == kind
        if isinstance(left, Logic) and left.kind == kind:
            left.items += right.items if right_is_same and isinstance(right, Logic) else [right]
            return left
        if right_is_same and isinstance(right, Logic):
            right.items.insert(0, left)
            right.place = place
            return right
        return Logic(kind, [left, right], place)

    def _guard(self, setting: Setting) -> Expression:
        """The condition of an ``if``, a loop or a switch case."""
        if self._peek().kind == "{":
            raise refuse("a boolean expression is expected", self._peek().place)
        condition = _boolean(self._expression(setting))
        if self._peek().kind == "=":
            raise refuse("'=' stands where '==' is expected", self._peek().place)
        return condition

    # Operands -------------------------------------------------------------------------------

    def _primary(self, setting: Setting, *, after_dot: bool) -> Expression:
        token = self._peek()
        setting = setting.copy()
        setting.place = token.place
        if self._stops_at_pipe and token.kind == "|":
            raise refuse("an expression is expected", token.place)
        root = self._operand(token, setting, after_dot)
        if self._stops_at_pipe and self._peek().kind == "|":
            return root
        return self._links(setting, root)

    def _operand(self, token: Token, setting: Setting, after_dot: bool) -> Expression:
        kind = token.kind
        if kind == tokens.IDENTIFIER:
            return self._name(after_dot)
        if kind in (tokens.INTEGER, tokens.FLOAT, tokens.STRING):
            self._next()
            return Constant(token.value, token.place)
        if kind == tokens.CHARACTER:
            self._next()
            return Constant(Character(token.value), token.place)
        if kind in ("true", "false"):
            self._next()
            return Constant(kind == "true", token.place)
        if kind == "()":
            self._next()
            return Constant(None, token.place)
        if kind in ("..", "..="):
            return Constant(0, token.place)
        if kind == "(":
            return self._group(setting)
        if kind == "{":
            return BlockExpression(self._block(setting.deeper()).block)
        if kind in ("if", "while", "loop", "do", "for", "switch"):
            return BlockExpression(as_block(self._statement_expression(kind, setting.deeper())))
        if kind == tokens.INTERPOLATED:
            return self._interpolated(setting)
        if kind == "[":
            return self._array(setting.deeper())
        if kind == "#{":
            return self._map(setting.deeper())
        if kind == tokens.RESERVED:
            return self._reserved_word(setting)
        if kind == tokens.END:
            raise refuse("the source ends too early", token.place)
        raise self._unexpected(token, "an expression is expected")

    def _name(self, after_dot: bool) -> Expression:
        token = self._next()
        following = self._peek()
        if following.kind in ("(", "!", "()"):
            return Variable(token.value, 0, token.place)
        if following.kind == "::":
            if after_dot:
                raise refuse("a module can not stand after a dot", following.place)
            return Variable(token.value, 0, token.place)
        return Variable(token.value, self._offset(token.value), token.place)

    def _reserved_word(self, setting: Setting) -> Expression:
        token = self._next()
        if token.value in tokens.CALLABLE_WORDS and self._peek().kind in ("(", "!", "()"):
            return Variable(token.value, 0, token.place)
        if token.value == "this":
            if setting.in_function:
                return This(token.place)
            raise refuse("'this' is known inside functions only", token.place)
        raise self._unexpected(token, f"'{token.value}' is a reserved symbol")

    def _group(self, setting: Setting) -> Expression:
        setting.place = self._next().place
        inner = self._expression(setting.deeper())
        self._expect(")", "a closing parenthesis is expected")
        return inner

    def _interpolated(self, setting: Setting) -> Expression:
        place = setting.place
        inner = setting.deeper()
        parts: list[Expression] = []
        token = self._next()
        if token.value:
            parts.append(Constant(token.value, token.place))
        while True:
            parts.append(BlockExpression(self._block(inner).block))
            self._scanner.within_text = True
            token = self._next()
            if token.kind == tokens.BROKEN:
                raise self._unexpected(token, "")
            if token.value:
                parts.append(Constant(token.value, token.place))
            if token.kind == tokens.STRING:
                return Interpolated(parts, place)

    def _array(self, setting: Setting) -> Expression:
        setting.place = self._next().place
        items: list[Expression] = []
        while True:
            if len(items) >= MAXIMUM_ARRAY:
                raise refuse("an array literal has too many items", self._peek().place)
            if self._take("]"):
                return ArrayLiteral(items, setting.place)
            if self._peek().kind == tokens.END:
                raise refuse("an array literal is not closed", self._peek().place)
            items.append(self._expression(setting.deeper()))
            token = self._peek()
            if token.kind == ",":
                self._next()
            elif token.kind != "]":
                raise self._unexpected(token, "a comma or ']' is expected after an array item")

    def _map(self, setting: Setting) -> Expression:
        setting.place = self._next().place
        entries: list[tuple[str, Expression]] = []
        names: set[str] = set()
        while not self._take("}"):
            token = self._next()
            if token.kind not in (tokens.IDENTIFIER, tokens.STRING):
                raise self._unexpected(token, "the name of a property is expected")
            name = token.value
            if name in names:
                raise refuse(f"property '{name}' stands twice in an object map", token.place)
            self._expect(":", "a colon is expected after the name of a property")
            if len(entries) >= MAXIMUM_MAP:
                raise refuse("an object map has too many properties", self._peek().place)
            names.add(name)
            entries.append((name, self._expression(setting.deeper())))
            token = self._peek()
            if token.kind == ",":
                self._next()
            elif token.kind != "}":
                raise self._unexpected(token, "a comma or '}' is expected after a property")
        return MapLiteral(entries, setting.place)

    # Links ----------------------------------------------------------------------------------

    def _links(self, setting: Setting, left: Expression) -> Expression:
        left_ends = True
        while True:
            kind = self._peek().kind
            links = kind in (".", "?.", "[", "?[")
            if not links and not (isinstance(left, Variable) and kind in ("(", "()", "!", "::")):
                break
            token = self._next()
            setting.place = token.place
            if not links and isinstance(left, Variable):
                left = self._name_link(setting, left, token)
            elif kind in ("[", "?["):
                left = self._index(setting.deeper(), left, kind == "?[", checked=True)
            else:
                self._check_after_dot()
                right = self._primary(setting.deeper(), after_dot=True)
                left = dot(left, right, left_ends, kind == "?.", token.place, refuse)
            left_ends = False
        if isinstance(left, Chain) and isinstance(left.left, Chain):
            return joined(left)
        return left

    def _check_after_dot(self) -> None:
        token = self._peek()
        if token.kind == tokens.IDENTIFIER:
            return
        if token.kind == tokens.RESERVED and token.value in tokens.METHOD_WORDS:
            return
        raise self._unexpected(token, "the name of a property is expected")

    def _name_link(self, setting: Setting, left: Variable, token: Token) -> Expression:
        if token.kind == "::":
            name, place = self._variable_name()
            path: Path = (*left.path, (left.name, left.place))
            return Variable(name, 0, place, path)
        captures = token.kind == "!"
        opening = token.kind
        if captures:
            following = self._peek()
            if left.path:
                raise refuse("a function of a module can not be called with '!'", token.place)
            if following.kind not in ("(", "()"):
                raise refuse("a list of arguments is expected after '!'", following.place)
            opening = self._next().kind
        setting.place = left.place
        arguments = [] if opening == "()" else self._arguments(setting)
        return Call(left.name, arguments, left.place, captures=captures, path=left.path)

    def _arguments(self, setting: Setting) -> list[Expression]:
        token = self._peek()
        if token.kind == tokens.END:
            raise refuse("a list of arguments is not closed", token.place)
        if token.kind == tokens.BROKEN:
            raise self._unexpected(token, "")
        if self._take(")"):
            return []
        inner = setting.deeper()
        arguments: list[Expression] = []
        while True:
            if self._peek().kind != ")":
                arguments.append(self._expression(inner))
            token = self._peek()
            if token.kind == ")":
                self._next()
                return arguments
            if token.kind != ",":
                raise self._unexpected(token, "a comma is expected between arguments")
            self._next()

    def _index(
        self, setting: Setting, left: Expression, optional: bool, *, checked: bool
    ) -> Expression:
        index = self._expression(setting.deeper())
        if checked:
            _check_index(left, index)
        token = self._peek()
        if token.kind != "]":
            raise self._unexpected(token, "a closing bracket is expected")
        self._next()
        following = self._peek()
        if following.kind not in ("[", "?["):
            return Chain(False, left, index, setting.place, optional=optional, last=True)
        self._next()
        place = setting.place
        setting.place = following.place
        next_optional = following.kind == "?["
        right = self._index(setting.deeper(), index, next_optional, checked=False)
        # The engine marks this link with the flag of the next one.
        return Chain(False, left, right, place, optional=next_optional)


def _boolean(node: Expression) -> Expression:
    """The expression, unless it can never be a boolean."""
    if isinstance(node, Constant):
        possible = type(node.value) is bool
    else:
        possible = not isinstance(node, Interpolated | ArrayLiteral | MapLiteral)
    if not possible:
        raise refuse("a boolean expression is expected", start_of_expression(node))
    return node


def _check_index(left: Expression, index: Expression) -> None:
    """Refuse an index whose literal type can not fit the literal it is put on."""
    is_boolean = isinstance(index, Logic) and index.kind in ("&&", "||")
    kind = type(index.value) if isinstance(index, Constant) else None
    is_string = kind is str or isinstance(index, Interpolated)
    wrong = is_boolean or kind in (float, Character, type(None), bool)
    if isinstance(left, MapLiteral):
        wrong = wrong or kind is int
    elif isinstance(left, ArrayLiteral | Interpolated) or (
        isinstance(left, Constant) and type(left.value) in (int, str)
    ):
        wrong = wrong or is_string
    else:
        wrong = False
    if wrong:
        raise refuse("an index of this type can not be used here", start_of_expression(index))
