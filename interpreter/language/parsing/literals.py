"""Scanning texts and characters: escapes, raw texts, back-tick texts, lines that go on."""

from __future__ import annotations

import re

from interpreter.language.parsing import tokens
from interpreter.language.parsing.cursor import HEX, Cursor
from interpreter.language.parsing.tokens import Token
from interpreter.language.places import MAXIMUM_PART, NOWHERE, place_of
from interpreter.language.values import byte_length

MAXIMUM_TEXT = 16_384
"""Bytes in a text literal (contract 3.1)."""

_PLAIN = {
    '"': re.compile(r'[^"\\\n\r]+'),
    "'": re.compile(r"[^'\\\n\r]+"),
    "`": re.compile(r"[^`\\\n\r$]+"),
}
_SIMPLE_ESCAPES = {"r": "\r", "n": "\n", "t": "\t", "\\": "\\"}
_ESCAPE_DIGITS = {"x": 2, "u": 4, "U": 8}
_WHITESPACE = frozenset(
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008"
    "\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)


class Broken(Exception):
    """A literal that can not be read; ``place`` is where the error belongs."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.message = message
        self.place = place


class LiteralScanner(Cursor):
    """Reads literals at the place where the scanner stands."""

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
        except Broken as broken:
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
                raise Broken("a text literal is too long", start)
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
                    raise Broken("a text is not closed", start)
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
                    raise Broken("a text is not closed", start)
                elif sign in _WHITESPACE and self._column < skip_until:
                    continue
                else:
                    part, skip_until = sign, 0
            parts.append(part)
            size += byte_length(part)
            if size > MAXIMUM_TEXT:
                raise Broken("a text literal is too long", start)

    def _escape(self, quote: str, start: int) -> tuple[str, bool]:
        """What a backslash stands for; the flag says that the line goes on below."""
        while self._peek() == "\r" and self._peek(1) == "\n":
            self._move()
        if self._at >= self._end:
            self._column += 1
            raise Broken("a text is not closed", start)
        sign = self._source[self._at]
        self._move()
        if sign in _SIMPLE_ESCAPES:
            return _SIMPLE_ESCAPES[sign], False
        if sign in _ESCAPE_DIGITS:
            return self._coded(_ESCAPE_DIGITS[sign]), False
        if sign == "\n":
            if quote != '"':
                self._column -= 1
                raise Broken("a text is not closed", start)
            self._new_line()
            return "", True
        if sign == quote:
            return quote, False
        raise Broken("unknown escape in a text", self._place())

    def _coded(self, count: int) -> str:
        code = 0
        for _ in range(count):
            sign = self._peek()
            if not sign:
                raise Broken("malformed escape in a text", self._place())
            self._move()
            if sign not in HEX:
                raise Broken("malformed escape in a text", self._place())
            code = code * 16 + int(sign, 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise Broken("malformed escape in a text", self._place())
        return chr(code)

    def _raw_text(self) -> str:
        start = place_of(self._line, self._column + 1)
        hashes = 0
        while self._peek() == "#":
            self._move()
            hashes += 1
        if self._peek() != '"':
            raise Broken("a raw text has no opening quote", start)
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
                raise Broken("a text literal is too long", start)
        raise Broken("a text is not closed", start)
