"""The scanner: source text to tokens, one at a time, with the engine's line and column counting.

Tokens are made on demand because the parser switches the scanner back into text after ``}`` inside
a back-tick string. Counting follows the engine even where it slips (an escaped ``\\${`` counts one
column less, a line break right after a quote in a raw string is not counted), since places are
part of what a caller sees.
"""

from __future__ import annotations

import re

from interpreter.language.parsing import tokens
from interpreter.language.parsing.literals import Broken, LiteralScanner
from interpreter.language.parsing.tokens import Token
from interpreter.language.places import place_of

_BLANKS = re.compile(r"[ \t\r\f]+")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORD_SIGNS = re.compile(r"[A-Za-z0-9_]")


class Scanner(LiteralScanner):
    """Reads tokens from one source text."""

    def next(self) -> Token:
        """The next token. At the end of the source it is END, again and again."""
        token = self._read_text() if self.within_text else self._read()
        self._unary_allowed = token.kind in tokens.BEFORE_UNARY
        if token.kind == tokens.RESERVED:
            return self._reserved(token)
        if token.kind in ("import", "export"):
            return Token(tokens.RESERVED, token.kind, token.place)
        return token

    @staticmethod
    def _reserved(token: Token) -> Token:
        if token.value in tokens.FOREIGN_SYMBOLS or token.value in tokens.DISABLED:
            return Token(tokens.BROKEN, "this symbol is not part of the language", token.place)
        return token

    # Tokens ---------------------------------------------------------------------------------

    def _read(self) -> Token:
        if self._open_comments:
            self._skip_block_comment()
            if self._open_comments:
                return Token(tokens.END, None, self._place())
        while self._at < self._end:
            sign = self._source[self._at]
            if sign == "\n":
                self._at += 1
                self._new_line()
            elif sign in " \t\r\f":
                blanks = _BLANKS.match(self._source, self._at)
                self._move(blanks.end() - self._at if blanks else 0)
            elif sign == "/" and self._peek(1) == "/":
                self._skip_line_comment()
            elif sign == "/" and self._peek(1) == "*":
                self._move(2)
                self._open_comments = 1
                self._skip_block_comment()
            else:
                return self._read_significant(sign)
        self._column += 1
        return Token(tokens.END, None, self._place())

    def _read_significant(self, sign: str) -> Token:
        start = place_of(self._line, self._column + 1)
        word = _WORD.match(self._source, self._at)
        if word:
            self._move(word.end() - self._at)
            return self._word(word.group(), start)
        if sign in "0123456789":
            return self._number("", start)
        try:
            if sign == '"':
                self._move()
                return Token(tokens.STRING, self._quoted('"')[0], start)
            if sign == "`":
                return self._back_tick(start)
            if sign == "'":
                return self._character(start)
            if sign == "#" and self._peek(1) in ("#", '"') and self._peek(1):
                return Token(tokens.STRING, self._raw_text(), start)
        except Broken as broken:
            return Token(tokens.BROKEN, broken.message, broken.place)
        return self._symbol(sign, start)

    @staticmethod
    def _word(word: str, start: int) -> Token:
        if word in tokens.KEYWORDS:
            return Token(word, word, start)
        if word in tokens.RESERVED_WORDS:
            return Token(tokens.RESERVED, word, start)
        if word[0] == "_" and not tokens.is_word(word):
            return Token(tokens.BROKEN, "a name needs a letter before any digit", start)
        return Token(tokens.IDENTIFIER, word, start)

    def _symbol(self, sign: str, start: int) -> Token:
        if sign in "+-" and self._peek(1) != "=":
            token = self._sign(sign, start)
            if token:
                return token
        if sign == "#" and self._peek(1) == " ":
            self._move(2)
            if self._peek() == "{":
                self._move()
                return Token(tokens.RESERVED, "# {", start)
            return Token(tokens.RESERVED, "#", start)
        if sign == "!" and self._is_not_in():
            self._move(3)
            return Token("!in", "!in", start)
        for size, symbols in zip((3, 2, 1), tokens.SYMBOLS, strict=True):
            text = self._source[self._at : self._at + size]
            if text in symbols:
                self._move(size)
                if text in tokens.RESERVED_SYMBOLS:
                    return Token(tokens.RESERVED, text, start)
                return Token(text, text, start)
        self._move()
        return Token(tokens.BROKEN, "unexpected character", start)

    def _sign(self, sign: str, start: int) -> Token | None:
        following = self._peek(1)
        if sign == "-" and following and following in "0123456789":
            self._move()
            return self._number("-", start) if self._unary_allowed else Token("-", "-", start)
        if following == sign or (sign == "-" and following == ">"):
            return None
        self._move()
        if self._unary_allowed:
            return Token(f"unary {sign}", sign, start)
        return Token(sign, sign, start)

    def _is_not_in(self) -> bool:
        if self._source[self._at + 1 : self._at + 3] != "in":
            return False
        return not _WORD_SIGNS.match(self._source, self._at + 3)

    # Comments -------------------------------------------------------------------------------

    def _skip_line_comment(self) -> None:
        self._move(2)
        while self._at < self._end:
            sign = self._source[self._at]
            self._at += 1
            if sign == "\r":
                if self._peek() == "\n":
                    self._at += 1
                self._new_line()
                return
            if sign == "\n":
                self._new_line()
                return
            self._column += 1

    def _skip_block_comment(self) -> None:
        while self._open_comments and self._at < self._end:
            pair = self._source[self._at : self._at + 2]
            if pair == "/*":
                self._move(2)
                self._open_comments += 1
            elif pair == "*/":
                self._move(2)
                self._open_comments -= 1
            elif pair[0] == "\n":
                self._at += 1
                self._new_line()
            else:
                self._move()
