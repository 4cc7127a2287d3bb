"""The scanner: source text to tokens, one at a time, with the engine's line and column counting.

Tokens are made on demand because the parser switches the scanner back into text after ``}`` inside
a back-tick string. Counting follows the engine even where it slips (an escaped ``\\${`` counts one
column less, a line break right after a quote in a raw string is not counted), since places are
part of what a caller sees.
"""

from __future__ import annotations

import re

from interpreter.language.parsing import tokens
from interpreter.language.parsing.tokens import Token
from interpreter.language.places import MAXIMUM_PART, NOWHERE, place_of
from interpreter.language.values import byte_length

MAXIMUM_TEXT = 16_384
"""Bytes in a text literal (contract 3.1)."""

_BLANKS = re.compile(r"[ \t\r\f]+")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORD_SIGNS = re.compile(r"[A-Za-z0-9_]")
_PLAIN = {
    '"': re.compile(r'[^"\\\n\r]+'),
    "'": re.compile(r"[^'\\\n\r]+"),
    "`": re.compile(r"[^`\\\n\r$]+"),
}
_SIMPLE_ESCAPES = {"r": "\r", "n": "\n", "t": "\t", "\\": "\\"}
_ESCAPE_DIGITS = {"x": 2, "u": 4, "U": 8}
_HEX = "0123456789abcdefABCDEF"
_RADIX = {"x": (16, _HEX), "o": (8, "01234567"), "b": (2, "01")}
_WHITESPACE = frozenset(
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008"
    "\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)


class _Broken(Exception):
    """A literal that can not be read; ``place`` is where the error belongs."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.message = message
        self.place = place


class Scanner:
    """Reads tokens from one source text."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._end = len(source)
        self._at = 0
        self._line = 1
        self._column = 0
        self._unary_allowed = True
        self._open_comments = 0
        self.within_text = False

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

    # Movement -------------------------------------------------------------------------------

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._source[at] if at < self._end else ""

    def _move(self, count: int = 1) -> None:
        self._at += count
        self._column += count

    def _new_line(self) -> None:
        self._line += 1
        self._column = 0

    def _place(self) -> int:
        return place_of(self._line, self._column)

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
        except _Broken as broken:
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

    # Numbers --------------------------------------------------------------------------------

    def _number(self, minus: str, start: int) -> Token:
        digits = self._source[self._at]
        self._move()
        letter = self._after_underscores() if digits == "0" else ""
        if letter and letter in "xobXOB":
            self._move()
            return self._radix_number(minus, letter.lower(), start)
        text = self._decimal_text(minus + digits)
        try:
            value = int(text)
            if -(2**63) <= value < 2**63:
                return Token(tokens.INTEGER, value, start)
        except ValueError:
            pass
        try:
            return Token(tokens.FLOAT, float(text), start)
        except ValueError:
            return Token(tokens.BROKEN, "malformed number", start)

    def _after_underscores(self) -> str:
        while self._peek() == "_":
            self._move()
        return self._peek()

    def _radix_number(self, minus: str, letter: str, start: int) -> Token:
        radix, valid = _RADIX[letter]
        digits = ""
        while True:
            sign = self._after_underscores()
            if not sign or sign not in valid:
                break
            digits += sign
            self._move()
        if minus or not digits or int(digits, radix) >= 2**64:
            return Token(tokens.BROKEN, "malformed number", start)
        value = int(digits, radix)
        return Token(tokens.INTEGER, value - 2**64 if value >= 2**63 else value, start)

    def _decimal_text(self, text: str) -> str:
        has_point = has_exponent = False
        while True:
            sign = self._after_underscores()
            following = self._peek(1)
            if sign and sign in "0123456789":
                text += sign
                self._move()
            elif sign == "." and not has_point:
                if following and following in "0123456789":
                    text += "."
                elif following in ("", "_", ".") or (following.isascii() and following.isalpha()):
                    return text
                else:
                    text += ".0"
                has_point = True
                self._move()
            elif sign and sign in "eE" and not has_exponent:
                if following and following in "0123456789":
                    text += "e"
                    self._move()
                elif following in ("+", "-"):
                    text += "e" + following
                    self._move(2)
                else:
                    return text
                has_exponent = has_point = True
            else:
                return text

    # Texts ----------------------------------------------------------------------------------

    def _character(self, start: int) -> Token:
        self._move()
        if self._peek() == "'":
            return Token(tokens.BROKEN, "a character literal is empty", start)
        text = self._quoted("'")[0]
        if len(text) != 1:
            return Token(tokens.BROKEN, "a character literal holds exactly one character", start)
        return Token(tokens.CHARACTER, text, start)

    def _back_tick(self, start: int) -> Token:
        self._move()
        if self._peek() == "\r":
            self._at += 2 if self._peek(1) == "\n" else 1
            self._new_line()
        elif self._peek() == "\n":
            self._at += 1
            self._new_line()
        text, more, closed, _ = self._verbatim()
        return self._text_token(text, more, closed, start)

    def _read_text(self) -> Token:
        """The part of a back-tick string that follows an interpolated block."""
        self.within_text = False
        try:
            text, more, closed, first = self._verbatim()
        except _Broken as broken:
            return Token(tokens.BROKEN, broken.message, broken.place)
        return self._text_token(text, more, closed, first)

    @staticmethod
    def _text_token(text: str, more: bool, closed: bool, place: int) -> Token:
        if more:
            return Token(tokens.INTERPOLATED, text, place)
        if not closed:
            return Token(tokens.BROKEN, "a text is not closed", place)
        return Token(tokens.STRING, text, place)

    def _verbatim(self) -> tuple[str, bool, bool, int]:
        """Text up to a back-tick or ``${``: the text, is there more, is it closed, first place."""
        start = self._place()
        parts: list[str] = []
        size = 0
        first = NOWHERE
        while self._at < self._end:
            plain = _PLAIN["`"].match(self._source, self._at)
            if plain:
                part = plain.group()
                first = first or place_of(self._line, self._column + 1)
                self._move(len(part))
            else:
                sign = self._source[self._at]
                self._move()
                here = self._place()
                if sign == "$" and self._peek() == "{":
                    return "".join(parts), True, True, first
                if sign == "\\" and self._peek() == "$" and self._peek(1) == "{":
                    # The escaped sign takes two characters of the source but counts as one.
                    self._at += 1
                    part = "$"
                elif sign == "`":
                    if self._peek() != "`":
                        return "".join(parts), False, True, first
                    self._move()
                    here = self._place()
                    part = "`"
                elif sign == "\r" and self._peek() == "\n":
                    part = ""
                else:
                    part = sign
                first = first or here
                if sign == "\n":
                    self._new_line()
            parts.append(part)
            size += byte_length(part)
            if size > MAXIMUM_TEXT:
                raise _Broken("a text literal is too long", start)
        self._column += 1
        return "".join(parts), False, False, first

    def _quoted(self, quote: str) -> tuple[str, int]:
        """A text or character literal with escapes, after its opening quote."""
        start = self._place()
        parts: list[str] = []
        size = 0
        skip_until = 0
        while True:
            plain = _PLAIN[quote].match(self._source, self._at)
            if plain and not skip_until:
                part = plain.group()
                self._move(len(part))
            else:
                if self._at >= self._end:
                    self._column += 1
                    raise _Broken("a text is not closed", start)
                sign = self._source[self._at]
                self._move()
                if sign == quote:
                    if self._peek() != quote:
                        return "".join(parts), size
                    self._move()
                    part, skip_until = quote, 0
                elif sign == "\\":
                    part, continued = self._escape(quote, start)
                    if continued:
                        skip_until = (start & MAXIMUM_PART) + 1
                        continue
                elif sign == "\r" and self._peek() == "\n":
                    continue
                elif sign == "\n":
                    self._column -= 1
                    raise _Broken("a text is not closed", start)
                elif sign in _WHITESPACE and self._column < skip_until:
                    continue
                else:
                    part, skip_until = sign, 0
            parts.append(part)
            size += byte_length(part)
            if size > MAXIMUM_TEXT:
                raise _Broken("a text literal is too long", start)

    def _escape(self, quote: str, start: int) -> tuple[str, bool]:
        """What a backslash stands for; the flag says that the line goes on below."""
        while self._peek() == "\r" and self._peek(1) == "\n":
            self._move()
        if self._at >= self._end:
            self._column += 1
            raise _Broken("a text is not closed", start)
        sign = self._source[self._at]
        self._move()
        if sign in _SIMPLE_ESCAPES:
            return _SIMPLE_ESCAPES[sign], False
        if sign in _ESCAPE_DIGITS:
            return self._coded(_ESCAPE_DIGITS[sign]), False
        if sign == "\n":
            if quote != '"':
                self._column -= 1
                raise _Broken("a text is not closed", start)
            self._new_line()
            return "", True
        if sign == quote:
            return quote, False
        raise _Broken("unknown escape in a text", self._place())

    def _coded(self, count: int) -> str:
        code = 0
        for _ in range(count):
            sign = self._peek()
            if not sign:
                raise _Broken("malformed escape in a text", self._place())
            self._move()
            if sign not in _HEX:
                raise _Broken("malformed escape in a text", self._place())
            code = code * 16 + int(sign, 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise _Broken("malformed escape in a text", self._place())
        return chr(code)

    def _raw_text(self) -> str:
        start = place_of(self._line, self._column + 1)
        hashes = 0
        while self._peek() == "#":
            self._move()
            hashes += 1
        if self._peek() != '"':
            raise _Broken("a raw text has no opening quote", start)
        self._move()
        parts: list[str] = []
        size = 0
        seen = -1
        while self._at < self._end:
            sign = self._source[self._at]
            self._move()
            part = ""
            if sign == '"':
                if seen >= 0:
                    part = '"' + "#" * seen
                seen = 0
            elif sign == "#" and seen >= 0:
                seen += 1
                if seen == hashes:
                    return "".join(parts)
            elif seen >= 0:
                # A line break here is kept but not counted as a line.
                part = '"' + "#" * seen + sign
                seen = -1
            else:
                part = sign
                if sign == "\n":
                    self._new_line()
            parts.append(part)
            size += byte_length(part)
            if size > MAXIMUM_TEXT:
                raise _Broken("a text literal is too long", start)
        raise _Broken("a text is not closed", start)
