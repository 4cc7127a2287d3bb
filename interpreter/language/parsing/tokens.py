"""The vocabulary: token kinds, keywords, reserved words and symbols, operator precedence.

A token's kind is its own text for keywords and symbols (``"let"``, ``"+="``); the other kinds are
the constants below. A minus or plus where no operand stands before it has a kind of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

INTEGER = "integer"


FLOAT = "float"


CHARACTER = "character"


STRING = "string"


INTERPOLATED = "interpolated"


IDENTIFIER = "identifier"


RESERVED = "reserved"


BROKEN = "broken"


END = "end"


UNARY_MINUS = "unary -"


UNARY_PLUS = "unary +"


class Token(NamedTuple):
    """One token: its kind, its value (name, number, text or message) and its place."""

    kind: str
    value: Any
    place: int


KEYWORDS = frozenset(
    "const continue catch for loop false let while throw else until switch private try true break "
    "return fn import export in if do as _".split()
)


# The engine's symbol table switches these words off; "import" and "export" become reserved words.
DISABLED = frozenset({"import", "export", "eval", "print", "debug"})


RESERVED_WORDS = frozenset(
    "use case async public package super var protected spawn shared is sync curry static default "
    "is_shared print this is_def_var thread is_def_fn yield new call match eval await null debug "
    "type_of with void nil module Fn go goto".split()
)


# Reserved words that may still be called, and those that may be called as methods.
CALLABLE_WORDS = frozenset(
    "curry is_shared print is_def_var is_def_fn call eval debug type_of Fn".split()
)


METHOD_WORDS = frozenset({"curry", "is_shared", "call", "type_of"})


SYMBOLS = (
    frozenset(("<<=", ">>=", "**=", "..=", "...", "===", "!==", "::<")),
    frozenset(
        (
            "()", "(*", "#{", "#!", "+=", "++", "-=", "->", "--", "*)", "*=", "**", "/=", "..",
            "==", "=>", "::", ":=", ":;", "<=", "<-", "<<", "<|", ">=", ">>", "!=", "!.", "||",
            "|=", "|>", "&&", "&=", "^=", "%=", "?.", "??", "?[",
        )
    ),
    frozenset("{}()[]#+-*/;,.=:<>!|&^~%@$?"),
)  # fmt: skip


# Symbols of other languages: always an error, and those that are an error only where they are used.
FOREIGN_SYMBOLS = frozenset({"===", "!==", "->", "<-", ":=", ":;", "::<", "(*", "*)", "# {"})


RESERVED_SYMBOLS = frozenset(
    {"~", "@", "$", "#", "#!", "?", "++", "--", "...", "!.", "<|", "|>"} | FOREIGN_SYMBOLS
)


# After one of these a minus or plus has no left operand.
BEFORE_UNARY = frozenset(
    {
        ";", ":", ",", "??", "..", "..=", "{", "(", "[", "+", "+=", UNARY_PLUS, "-", "-=",
        UNARY_MINUS, "*", "*=", "/", "/=", "%", "%=", "**", "**=", "<<", "<<=", ">>", ">>=", "=",
        "==", "!=", "<", ">", "!", "<=", ">=", "|", "&", "if", "while", "until", "in", "!in", "&&",
        "&=", "||", "|=", "^", "^=", "return", "throw", "?[", BROKEN,
    }
)  # fmt: skip


PRECEDENCE = {
    "||": 30, "^": 30, "|": 30, "&&": 60, "&": 60, "==": 90, "!=": 90, "in": 110, "!in": 110,
    "<": 130, "<=": 130, ">": 130, ">=": 130, "??": 135, "..": 140, "..=": 140, "+": 150, "-": 150,
    "/": 180, "*": 180, "%": 180, "**": 190, "<<": 210, ">>": 210,
}  # fmt: skip


# Operator of each compound assignment, and the reverse.
COMPOUND = {
    "+=": "+", "-=": "-", "*=": "*", "/=": "/", "<<=": "<<", ">>=": ">>", "%=": "%", "**=": "**",
    "&=": "&", "|=": "|", "^=": "^",
}  # fmt: skip


COMPOUND_OF = {operator: compound for compound, operator in COMPOUND.items()}


def is_word(text: str) -> bool:
    """Whether a text is shaped as an identifier: a letter after underscores, then word signs."""
    bare = text.lstrip("_")
    return bool(bare) and bare.isascii() and bare[0].isalpha() and bare.replace("_", "a").isalnum()


def is_function_name(text: str) -> bool:
    """Whether a text may name a function written in the source."""
    return is_word(text) and text not in RESERVED_WORDS and text not in KEYWORDS


def is_reserved(text: str) -> bool:
    """Whether a text is a keyword, a reserved word or any symbol of the language."""
    return (
        text in KEYWORDS
        or text in RESERVED_WORDS
        or text in RESERVED_SYMBOLS
        or text == "!in"
        or any(text in symbols for symbols in SYMBOLS)
    )
