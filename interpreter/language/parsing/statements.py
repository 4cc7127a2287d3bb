"""The parser of statements and functions: source text to the functions it defines."""

from __future__ import annotations

from interpreter.language.errors import CompileError
from interpreter.language.parsing import tokens
from interpreter.language.parsing.settings import Setting, refuse
from interpreter.language.parsing.switches import SwitchParser
from interpreter.language.parsing.tokens import Token
from interpreter.language.parsing.traits import (
    as_block,
    ends_itself,
    is_constant,
    place_of_expression,
    start_of_expression,
)
from interpreter.language.parsing.tree import (
    Assignment,
    Block,
    BlockStatement,
    Chain,
    Constant,
    DoLoop,
    Empty,
    Expression,
    ExpressionStatement,
    For,
    Function,
    If,
    Let,
    Logic,
    LoopExit,
    MapLiteral,
    Property,
    Return,
    Statement,
    This,
    TryCatch,
    Variable,
    While,
)
from interpreter.language.places import NOWHERE, place_of

_TYPE_NAMES = {"int": "i64", "float": "f64"}


def parse(source: str) -> list[Function]:
    """The functions of a source text, in order.

    Statements at the top level are checked and dropped, since nothing ever runs them.
    Raises CompileError.
    """
    return Parser(source).functions()


class Parser(SwitchParser):
    """Parses one source text."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self._frame = 0
        self._functions: dict[tuple[str, int, str | None], Function] = {}

    def functions(self) -> list[Function]:
        """Parse the whole text."""
        setting = Setting(0, place_of(1, 0), in_function=False, breakable=False, top=True)
        while self._peek().kind != tokens.END:
            statement = self._statement(setting)
            if isinstance(statement, Empty):
                continue
            token = self._peek()
            if token.kind == tokens.END:
                break
            if ends_itself(statement):
                continue
            if token.kind != ";":
                raise self._unexpected(token, "a semicolon is expected after a statement")
            self._next()
        return list(self._functions.values())

    # Statements -----------------------------------------------------------------------------

    def _statement(self, setting: Setting) -> Statement:
        token = self._peek()
        kind = token.kind
        if kind == tokens.END:
            return Empty(token.place)
        setting = setting.copy()
        setting.place = token.place
        if kind == ";":
            self._next()
            return Empty(token.place)
        if kind == "{":
            return self._block(setting.deeper())
        if kind in ("fn", "private"):
            return self._function_statement(setting)
        if kind in ("if", "switch", "while", "loop", "do", "for"):
            return self._statement_expression(kind, setting.deeper())
        if kind in ("break", "continue"):
            return self._loop_exit(setting)
        if kind in ("return", "throw"):
            self._next()
            return Return(self._optional_value(setting), kind == "throw", token.place)
        if kind == "try":
            return self._try(setting.deeper())
        if kind in ("let", "const"):
            return self._let(setting.deeper(), kind == "const")
        return self._expression_statement(setting.deeper())

    def _statement_expression(self, kind: str, setting: Setting) -> Statement:
        if kind == "if":
            return self._if(setting)
        if kind == "switch":
            return self._switch(setting)
        if kind == "do":
            return self._do(setting)
        if kind == "for":
            return self._for(setting)
        return self._while(setting)

    def _block(self, setting: Setting) -> BlockStatement:
        start = self._expect("{", "a brace is expected to start a block").place
        setting = setting.deeper(start)
        setting.top = False
        statements: list[Statement] = []
        outer_frame = self._frame
        self._frame = len(self._scope)
        end = None
        while end is None:
            token = self._peek()
            if token.kind == "}":
                end = self._next().place
                break
            if token.kind == tokens.END:
                raise refuse("a block is not closed", token.place)
            statement = self._statement(setting)
            if isinstance(statement, Empty):
                continue
            statements.append(statement)
            end = self._end_of_statement(statement)
        del self._scope[self._frame :]
        self._frame = outer_frame
        return BlockStatement(Block(statements, setting.place, end))

    def _end_of_statement(self, statement: Statement) -> int | None:
        """Pass the semicolon; the place of the closing brace when the block ends here."""
        token = self._peek()
        if token.kind == "}":
            return self._next().place
        if token.kind == ";":
            self._next()
        elif not ends_itself(statement):
            raise self._unexpected(token, "a semicolon is expected after a statement")
        return None

    def _optional_value(self, setting: Setting) -> Expression | None:
        """The expression after ``return``, ``throw`` or ``break``, if there is one."""
        place = self._peek().place
        try:
            return self._expression(setting.deeper())
        except CompileError:
            # The engine takes any failure at the very first token for "no value".
            if self._peek().place == place:
                return None
            raise

    def _loop_exit(self, setting: Setting) -> Statement:
        token = self._peek()
        if not setting.breakable:
            raise refuse(f"'{token.kind}' is allowed inside a loop only", token.place)
        self._next()
        if token.kind == "continue":
            return LoopExit(None, False, token.place)
        return LoopExit(self._optional_value(setting), True, token.place)

    def _if(self, setting: Setting) -> If:
        setting = setting.deeper(self._next().place)
        condition = self._guard(setting)
        body = self._block(setting).block
        branch = Block([], NOWHERE)
        if self._take("else"):
            following = self._peek().kind
            branch = as_block(self._if(setting) if following == "if" else self._block(setting))
        return If(condition, body, branch, setting.place)

    def _while(self, setting: Setting) -> While:
        setting = setting.deeper()
        token = self._next()
        condition = self._guard(setting) if token.kind == "while" else None
        setting.place = token.place
        setting.breakable = True
        return While(condition, self._block(setting).block, token.place)

    def _do(self, setting: Setting) -> DoLoop:
        setting = setting.deeper(self._next().place)
        outer_breakable = setting.breakable
        setting.breakable = True
        body = self._block(setting).block
        token = self._next()
        if token.kind not in ("while", "until"):
            raise refuse("'while' or 'until' is expected after a 'do' block", token.place)
        setting.breakable = outer_breakable
        condition = self._guard(setting)
        return DoLoop(condition, body, token.kind == "until", setting.place)

    def _for(self, setting: Setting) -> For:
        setting = setting.deeper(self._next().place)
        name, counter = self._loop_names()
        self._expect("in", "'in' is expected after the name of a loop variable")
        if self._peek().kind == "{":
            raise refuse("an iterable expression is expected", self._peek().place)
        iterable = self._expression(setting)
        _check_iterable(iterable)
        depth = len(self._scope)
        if counter is not None:
            self._scope.append((counter, False))
        self._scope.append((name, False))
        setting.breakable = True
        body = self._block(setting).block
        del self._scope[depth:]
        return For(name, counter, iterable, body, setting.place)

    def _loop_names(self) -> tuple[str, str | None]:
        if not self._take("("):
            return self._variable_name()[0], None
        name, _ = self._variable_name()
        if not self._take(","):
            raise refuse("a comma is expected after a loop variable", self._peek().place)
        counter, place = self._variable_name()
        if counter == name:
            raise refuse(f"variable '{name}' stands twice", place)
        if not self._take(")"):
            raise refuse("a closing parenthesis is expected", self._peek().place)
        return name, counter

    def _let(self, setting: Setting, constant: bool) -> Let:
        setting.place = self._next().place
        name, _ = self._variable_name()
        value: Expression = Constant(None, NOWHERE)
        if self._take("="):
            value = self._expression(setting.deeper())
        offset = self._offset(name)
        index = len(self._scope) - offset
        if not offset or index < self._frame:
            self._scope.append((name, constant))
            return Let(name, value, 0, constant, setting.place)
        self._scope[index] = (name, constant)
        return Let(name, value, offset, constant, setting.place)

    def _try(self, setting: Setting) -> TryCatch:
        setting = setting.deeper(self._next().place)
        body = self._block(setting).block
        if not self._take("catch"):
            raise refuse("'catch' is expected after a 'try' block", self._peek().place)
        name = None
        if self._take("("):
            name, _ = self._variable_name()
            if not self._take(")"):
                raise refuse("a closing parenthesis is expected", self._peek().place)
            self._scope.append((name, False))
        branch = self._block(setting).block
        if name is not None:
            self._scope.pop()
        return TryCatch(body, name, branch, setting.place)

    # Assignments ----------------------------------------------------------------------------

    def _expression_statement(self, setting: Setting) -> Statement:
        setting.place = self._peek().place
        left = self._expression(setting)
        token = self._peek()
        if token.kind != "=" and token.kind not in tokens.COMPOUND:
            return ExpressionStatement(left)
        self._next()
        setting.place = token.place
        right = self._expression(setting)
        compound = None if token.kind == "=" else token.kind
        self._check_target(left, compound, token)
        return Assignment(compound, left, right, token.place)

    def _check_target(self, left: Expression, compound: str | None, token: Token) -> None:
        if isinstance(left, This):
            return
        if isinstance(left, Variable):
            if left.offset and self._scope[-left.offset][1]:
                raise refuse(f"constant '{left.name}' can not be assigned to", left.place)
            return
        message = "this expression can not be assigned to"
        if isinstance(left, Chain):
            place = None if left.last else _bad_link(left.right, left.dotted)
            if place is None and not isinstance(left.left, Variable | This):
                place = place_of_expression(left.left)
            if place is not None:
                raise refuse(message, place)
            return
        if is_constant(left):
            raise refuse("a constant can not be assigned to", start_of_expression(left))
        if isinstance(left, Logic) and compound is None:
            raise refuse("'=' stands where '==' is expected", token.place)
        raise refuse(message, place_of_expression(left))

    # Functions ------------------------------------------------------------------------------

    def _function_statement(self, setting: Setting) -> Statement:
        public = not self._take("private")
        token = self._next()
        if token.kind != "fn":
            raise refuse("'fn' is expected after 'private'", token.place)
        if not setting.top:
            raise refuse("a function can be defined at the top level only", setting.place)
        inner = Setting(0, token.place, in_function=True, breakable=False, top=False)
        outer_scope, outer_frame = self._scope, self._frame
        outer_filter = self._stops_at_pipe
        self._scope, self._frame, self._stops_at_pipe = [], 0, False
        function = self._function(inner.deeper(), public)
        self._scope, self._frame = outer_scope, outer_frame
        self._stops_at_pipe = outer_filter
        key = (function.name, len(function.parameters), function.this_type)
        if key in self._functions:
            raise refuse(
                f"function '{function.name}' with {key[1]} parameters is defined twice", token.place
            )
        self._functions[key] = function
        return Empty(token.place)

    def _function(self, setting: Setting, public: bool) -> Function:
        token = self._next()
        following = self._peek()
        this_type = None
        if token.kind in (tokens.STRING, tokens.IDENTIFIER) and following.kind == ".":
            self._next()
            this_type = _TYPE_NAMES.get(token.value, token.value)
            token = self._next()
        elif token.kind == tokens.STRING:
            raise refuse("a dot is expected after the type of 'this'", following.place)
        if token.kind != tokens.IDENTIFIER:
            raise self._unexpected(token, "the name of a function is expected")
        name = token.value
        parameters = self._parameters(name)
        if self._peek().kind != "{":
            raise refuse(f"function '{name}' has no body", self._peek().place)
        body = self._block(setting).block
        return Function(name, parameters, body, setting.place, public=public, this_type=this_type)

    def _parameters(self, name: str) -> list[str]:
        token = self._peek()
        if token.kind not in ("(", "()"):
            raise refuse(f"function '{name}' has no list of parameters", token.place)
        self._next()
        parameters: list[str] = []
        if token.kind == "()":
            return parameters
        while not self._take(")"):
            token = self._next()
            if token.kind != tokens.IDENTIFIER:
                raise self._unexpected(token, "the name of a parameter is expected")
            if token.value in parameters:
                raise refuse(f"parameter '{token.value}' stands twice", token.place)
            parameters.append(token.value)
            self._scope.append((token.value, False))
            token = self._next()
            if token.kind == ")":
                break
            if token.kind != ",":
                raise self._unexpected(token, "a comma is expected between parameters")
        return parameters


def _check_iterable(node: Expression) -> None:
    if isinstance(node, MapLiteral) or (isinstance(node, Constant) and type(node.value) is not str):
        raise refuse("an iterable value is expected", start_of_expression(node))


def _bad_link(node: Expression, after_dot: bool) -> int | None:
    """The place of the first link that can not be assigned through, or None."""
    while isinstance(node, Chain):
        if after_dot and not isinstance(node.left, Property):
            return place_of_expression(node.left)
        if node.last:
            return None
        after_dot, node = node.dotted, node.right
    if after_dot and not isinstance(node, Property):
        return place_of_expression(node)
    return None
