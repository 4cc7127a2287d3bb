"""Reading tokens with one token of look-ahead, and the names the parser knows so far."""

from __future__ import annotations

from interpreter.language.errors import CompileError
from interpreter.language.parsing import tokens
from interpreter.language.parsing.scanner import Scanner
from interpreter.language.parsing.settings import refuse
from interpreter.language.parsing.tokens import Token


class TokenReader:
    """The ground of the parsers: the next token, and the scope."""

    def __init__(self, source: str) -> None:
        self._scanner = Scanner(source)
        self._ahead: Token | None = None
        # Names of the scope as the engine's parser sees them, oldest first; True is a constant.
        self._scope: list[tuple[str, bool]] = []
        self._stops_at_pipe = False

    # Tokens ---------------------------------------------------------------------------------

    def _peek(self) -> Token:
        if self._ahead is None:
            self._ahead = self._scanner.next()
        return self._ahead

    def _next(self) -> Token:
        token = self._peek()
        self._ahead = None
        return token

    def _take(self, kind: str) -> bool:
        if self._peek().kind == kind:
            self._ahead = None
            return True
        return False

    def _expect(self, kind: str, message: str) -> Token:
        token = self._next()
        if token.kind != kind:
            raise self._unexpected(token, message)
        return token

    @staticmethod
    def _unexpected(token: Token, message: str) -> CompileError:
        if token.kind == tokens.BROKEN:
            message = token.value
        elif token.kind == tokens.RESERVED and tokens.is_word(token.value):
            message = f"'{token.value}' is a reserved word"
        return refuse(message, token.place)

    def _variable_name(self) -> tuple[str, int]:
        token = self._next()
        if token.kind != tokens.IDENTIFIER:
            raise self._unexpected(token, "the name of a variable is expected")
        return token.value, token.place

    def _offset(self, name: str) -> int:
        for offset, (known, _) in enumerate(reversed(self._scope), 1):
            if known == name:
                return offset
        return 0
