"""The place in the source text while it is scanned, and reading numbers there."""

from __future__ import annotations

from interpreter.language.parsing import tokens
from interpreter.language.parsing.tokens import Token
from interpreter.language.places import place_of

HEX = "0123456789abcdefABCDEF"
_RADIX = {"x": (16, HEX), "o": (8, "01234567"), "b": (2, "01")}


class Cursor:
    """Stands at one character of the source and counts lines and columns."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._end = len(source)
        self._at = 0
        self._line = 1
        self._column = 0
        self._unary_allowed = True
        self._open_comments = 0
        self.within_text = False

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
