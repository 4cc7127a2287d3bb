"""Random expressions of the language, mostly of a wanted type."""

from __future__ import annotations

import random
from typing import Any

from tests.interpreter.language.vocabulary import (
    ARRAY_METHODS,
    BINARY,
    CHARS,
    COMPARED,
    FIXED,
    FLOATS,
    FORMS,
    FUNCTIONS,
    INTEGERS,
    MAP_METHODS,
    NAMES,
    OPERATIONS,
    OTHER_METHODS,
    PROPERTIES,
    STRINGS,
    TYPED_FORMS,
    TYPED_METHODS,
    TYPES,
)


class ExpressionGenerator:
    """Makes expressions from one seed; the program generator adds statements."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.names: list[tuple[str, str]] = []
        self.in_loop = 0
        self.this = False
        self.budget = 0
        # How often something of the wrong type, or unknown, is put in.
        self.noise = self.pick((0.0, 0.0, 0.0, 0.004, 0.02, 0.08))
        # The engine picks one at random of several functions that a bare name may mean.
        self.overloads = self.chance(0.4)
        self.constants: set[str] = set()
        self.defined: list[tuple[str, int]] = []

    # Literals -------------------------------------------------------------------------------

    def pick(self, options: Any) -> Any:
        return self.r.choice(options)

    def chance(self, share: float) -> bool:
        return self.r.random() < share

    def literal(self, kind: str, depth: int) -> str:
        if kind == "int":
            return self.pick(INTEGERS) if self.chance(0.5) else str(self.r.randint(-3, 12))
        if kind == "float":
            return str(self.pick(FLOATS))
        if kind == "bool":
            return str(self.pick(("true", "false")))
        if kind == "string":
            return self.interpolated(depth) if self.chance(0.25) else str(self.pick(STRINGS))
        if kind == "char":
            return str(self.pick(CHARS))
        if kind == "array":
            return self.array(depth)
        if kind == "map":
            return self.map(depth)
        if kind == "unit":
            return "()"
        if kind == "range":
            return self.range(depth)
        if kind == "fn":
            name = str(self.pick(("g", "h", "m", "abs")))
            return f'Fn("{name}")' if self.overloads or self.chance(0.5) else name
        return self.literal(self.pick(TYPES[:-1]), depth)

    def array(self, depth: int) -> str:
        kind = self.pick(("int", "int", "string", "any", "array", "float", "char"))
        count = self.r.randint(0, 4)
        items = [self.expression(kind, depth - 1) for _ in range(count)]
        comma = "," if items and self.chance(0.3) else ""
        return f"[{', '.join(items)}{comma}]"

    def map(self, depth: int) -> str:
        names = self.r.sample(("a", "b", "c", "key", "x", '"q r"', '"a b"', "fld"), 3)
        entries = [
            f"{name}: {self.expression('any', depth - 1)}" for name in names[: self.r.randint(0, 3)]
        ]
        return "#{" + ", ".join(entries) + "}"

    def range(self, depth: int) -> str:
        symbol = self.pick(("..", "..", "..="))
        if self.chance(0.6):
            return f"{self.r.randint(-3, 3)}{symbol}{self.r.randint(-3, 6)}"
        if self.chance(0.3):
            return f"({self.r.randint(0, 3)}{symbol})"
        return f"{self.atom('int', depth)}{symbol}{self.atom('int', depth)}"

    def interpolated(self, depth: int) -> str:
        parts = []
        for _ in range(self.r.randint(1, 3)):
            parts.append(self.pick(("", "t", "é ", "\\${x}", "$", "``", "\n", "{", " \\ ")))
            if self.chance(0.75):
                inner = self.expression("any", depth - 1)
                if self.chance(0.15):
                    inner = f"let q = {inner}; q"
                parts.append("${" + inner + "}")
        return "`" + "".join(parts) + "`"

    # Expressions ----------------------------------------------------------------------------

    def variable(self, kind: str) -> str | None:
        latest = dict(self.names)
        fitting = [name for name, known in latest.items() if kind in (known, "any")]
        if not fitting and self.chance(self.noise):
            fitting = list(latest)
        if not fitting:
            return None
        return str(self.pick(fitting[-6:] if self.chance(0.7) else fitting))

    def atom(self, kind: str, depth: int) -> str:
        if self.this and self.chance(0.15):
            return "this"
        if kind in ("one", "two", "name"):
            return self.function_value(kind)
        name = self.variable(kind)
        if name is not None and self.chance(0.6):
            return name
        return self.literal(kind, depth)

    def expression(self, kind: str, depth: int) -> str:
        self.budget -= 1
        if kind == "any":
            kind = self.pick(TYPES[:-1])
        if self.chance(self.noise):
            kind = self.pick(TYPES[:-1])
        if depth <= 0 or self.budget < 0 or kind in ("one", "two", "name") or self.chance(0.15):
            return self.atom(kind, depth)
        if self.chance(self.noise):
            return str(getattr(self, self.pick(FORMS))(kind, depth))
        return str(getattr(self, self.pick(TYPED_FORMS))(kind, depth))

    def function_value(self, kind: str) -> str:
        """A function pointer, or the name of a function, for a number of arguments."""
        count = 2 if kind == "two" else 1
        names = [name for name, arity in self.defined if arity in (count, count - 1)]
        if not names or self.chance(self.noise):
            names = ["g", "h", "m", "abs", "type_of", "max", "to_string", "is_odd"]
            if kind == "name":
                names += ["print", "x y", "fn", "+"]
        name = self.pick(names)
        if kind == "name":
            return f'"{name}"'
        known = [other for other, _ in self.defined]
        bare = name in known and not self.overloads and self.chance(0.5)
        return name if bare else f'Fn("{name}")'

    def typed_operation(self, kind: str, depth: int) -> str:
        if kind == "bool" and self.chance(0.6):
            operand = self.pick(("int", "float", "string", "char", "any", "array", "map", "unit"))
            if self.chance(0.2):
                holder = self.pick(("array", "map", "range"))
                item = {"map": "string", "range": "int"}.get(holder, "any")
                symbol = self.pick(("in", "!in"))
                return f"{self.operand(item, depth)} {symbol} {self.operand(holder, depth)}"
            other = self.pick((operand, operand, operand, "any"))
            left, right = self.operand(operand, depth), self.operand(other, depth)
            return f"{left} {self.pick(COMPARED)} {right}"
        symbols = OPERATIONS.get(kind, ())
        if not symbols:
            return self.atom(kind, depth)
        other = kind
        if kind == "float" and self.chance(0.3):
            other = "int"
        if kind == "string" and self.chance(0.3):
            other = "char"
        left, right = self.operand(kind, depth), self.operand(other, depth)
        return f"{left} {self.pick(symbols)} {right}"

    def typed_method(self, kind: str, depth: int) -> str:
        fitting = [entry for entry in TYPED_METHODS if entry[3] in (kind, "any")]
        if not fitting:
            return self.atom(kind, depth)
        base, name, kinds, _ = self.pick(fitting)
        arguments = [self.expression(argument, depth - 1) for argument in kinds]
        object_text = self.operand(base, depth)
        if self.chance(0.12) and name not in ("curry",):
            return f"{name}({', '.join([object_text, *arguments])})"
        return f"{object_text}{self.pick(('.', '.', '?.'))}{name}({', '.join(arguments)})"

    def typed_index(self, kind: str, depth: int) -> str:
        base = self.pick(("array", "map", "string", "int"))
        text = self.operand(base, depth)
        if base == "map":
            key = self.pick(('"a"', '"b"', '"key"', '"x"'))
            return f"{text}[{key}]" if self.chance(0.5) else f"{text}.{self.pick('abx')}"
        if self.chance(0.2) and base != "array":
            return f"{text}[{self.range(0)}]"
        return f"{text}{self.pick(('[', '[', '?['))}{self.pick(('0', '1', '-1', '2'))}]"

    def typed_call(self, kind: str, depth: int) -> str:
        if not self.defined:
            return self.atom(kind, depth)
        name, arity = self.pick(self.defined)
        arguments = [self.expression("any", depth - 1) for _ in range(arity)]
        text = ", ".join(arguments)
        form = self.r.random()
        if form < 0.5:
            return f"{name}({text})"
        if form < 0.65:
            return f"{self.operand('any', depth)}.{name}({text})"
        if form < 0.72:
            return f"{name}!({text})"
        if form < 0.82:
            pointer = f'Fn("{name}")' if self.overloads else name
            return f"call({pointer}{', ' + text if text else ''})"
        if form < 0.9:
            return f'Fn("{name}").call({text})'
        bound, rest = arguments[: arity // 2], arguments[arity // 2 :]
        pointer = f'Fn("{name}")'
        for value in bound:
            pointer = f"{pointer}.curry({value})"
        return f"{pointer}.call({', '.join(rest)})"

    def typed_negation(self, kind: str, depth: int) -> str:
        symbol = {"int": "-", "float": "-", "bool": "!"}.get(kind)
        if symbol is None:
            return self.atom(kind, depth)
        return symbol + self.operand(kind, depth)

    def operand(self, kind: str, depth: int) -> str:
        text = self.expression(kind, depth - 1)
        return f"({text})" if self.chance(0.5) or not text.isalnum() else text

    def binary(self, kind: str, depth: int) -> str:
        symbols: Any = BINARY
        operand = kind
        if kind in ("int", "float") and self.chance(0.85):
            symbols = BINARY[:11] if kind == "int" else BINARY[:6]
            if self.chance(0.15):
                operand = self.pick(("int", "float"))
        elif kind == "bool" and self.chance(0.85):
            symbols = BINARY[11:22]
            operand = self.pick(("int", "float", "string", "bool", "char", "any", "array", "map"))
        elif kind in ("string", "array", "map") and self.chance(0.8):
            symbols = ("+", "+", "-", "??")
        symbol = self.pick(symbols)
        if symbol in ("&&", "||"):
            operand = "bool"
        left = self.operand(operand, depth)
        if symbol in ("in", "!in"):
            return f"{left} {symbol} {self.operand(self.pick(('array', 'map', 'range')), depth)}"
        if symbol == "??" and self.chance(0.1):
            return f"{left} ?? {self.pick(('return', 'throw'))} {self.atom('any', depth)}"
        other = operand if self.chance(0.85) else self.pick(TYPES[:-1])
        return f"{left} {symbol} {self.operand(other, depth)}"

    def unary(self, kind: str, depth: int) -> str:
        symbol = "!" if kind == "bool" else self.pick(("-", "+", "-", "!"))
        return f"{symbol}{self.operand(kind, depth)}"

    def index(self, kind: str, depth: int) -> str:
        base_kind = self.pick(("array", "array", "map", "string", "int"))
        base = self.operand(base_kind, depth)
        if base_kind == "map":
            key = self.pick(('"a"', '"b"', '"key"', self.expression("string", depth - 2)))
        elif self.chance(0.15):
            key = self.range(depth - 1)
        else:
            key = self.pick(("0", "1", "-1", "2", self.expression("int", depth - 2)))
        return f"{base}{self.pick(('[', '[', '[', '?['))}{key}]"

    def property(self, kind: str, depth: int) -> str:
        base = self.operand(self.pick(("map", "map", "array", "any", "range", "int")), depth)
        return f"{base}{self.pick(('.', '.', '?.'))}{self.pick(PROPERTIES)}"

    def method(self, kind: str, depth: int) -> str:
        base_kind = self.pick(("array", "array", "map", "any"))
        table: Any = OTHER_METHODS
        if base_kind == "array" and self.chance(0.85):
            table = ARRAY_METHODS
        elif base_kind == "map" and self.chance(0.85):
            table = MAP_METHODS
        name, count = self.pick(table)
        base = self.operand(base_kind, depth)
        return f"{base}{self.pick(('.', '.', '.', '?.'))}{name}({self.arguments(count, depth)})"

    def chain(self, kind: str, depth: int) -> str:
        text = self.atom(self.pick(("map", "array", "any")), depth)
        for _ in range(self.r.randint(1, 4)):
            link = self.r.random()
            if link < 0.4:
                text += self.pick((".", "?.", ".")) + self.pick(PROPERTIES)
            elif link < 0.7:
                key = self.pick(("0", "1", "-1", '"a"', '"b"', self.atom("any", depth)))
                text += self.pick(("[", "[", "?[")) + key + "]"
            else:
                name, count = self.pick(ARRAY_METHODS + MAP_METHODS + OTHER_METHODS)
                text += f".{name}({self.arguments(count, depth - 1)})"
        return text

    def arguments(self, count: int, depth: int) -> str:
        parts = []
        for _ in range(count):
            if self.chance(0.25):
                parts.append(self.literal("fn", depth))
            elif self.chance(0.1):
                parts.append(self.pick(('"g"', '"h"', '"m"', '"abs"', '"print"', '"x y"')))
            else:
                kind = self.pick(("int", "int", "any", "array", "range", "string", "map"))
                parts.append(self.expression(kind, depth - 1))
        return ", ".join(parts)

    def call(self, kind: str, depth: int) -> str:
        name, count = self.pick(FUNCTIONS)
        mark = "!" if self.chance(0.08) and name in ("g", "h", "m", "push", "len") else ""
        path = "mod::" if self.chance(0.02) else ""
        if name in ("call", "curry"):
            pointer = self.expression("fn", depth - 1)
            rest = self.arguments(count - 1, depth)
            return f"{name}({pointer}{', ' + rest if rest else ''})"
        if name in ("is_def_var", "Fn"):
            inner = self.pick(('"a"', '"g"', '"h"', '"x"', '"fn"', '"+"', self.atom("any", 1)))
            return f"{name}({inner})"
        if name == "is_def_fn":
            return f"is_def_fn({self.pick(STRINGS)}, {self.r.randint(0, 2)})"
        return f"{path}{name}{mark}({self.arguments(count, depth)})"

    def conditional(self, kind: str, depth: int) -> str:
        condition = self.expression("bool", depth - 1)
        text = f"if {condition} {self.block(kind, depth - 1)}"
        if self.chance(0.8):
            text += f" else {self.block(kind, depth - 1)}"
        return text

    def switch(self, kind: str, depth: int) -> str:
        subject_kind = self.pick(("int", "int", "string", "any", "bool", "float", "array"))
        arms = []
        for _ in range(self.r.randint(1, 3)):
            cases = [self.fixed(subject_kind) for _ in range(self.r.randint(1, 2))]
            guard = f" if {self.expression('bool', depth - 2)}" if self.chance(0.3) else ""
            arms.append(f"{' | '.join(cases)}{guard} => {self.arm(kind, depth - 1)}")
        if subject_kind in ("int", "float") and self.chance(0.4):
            part = f"{self.r.randint(-2, 2)}{self.pick(('..', '..='))}{self.r.randint(0, 5)}"
            guard = f" if {self.expression('bool', depth - 2)}" if self.chance(0.3) else ""
            arms.append(f"{part}{guard} => {self.arm(kind, depth - 1)}")
        if self.chance(0.7):
            arms.append(f"_ => {self.arm(kind, depth - 1)}")
        return f"switch {self.operand(subject_kind, depth)} {{ {', '.join(arms)} }}"

    def arm(self, kind: str, depth: int) -> str:
        if self.chance(0.06):
            name = self.pick(NAMES)
            return f"let {name} = {self.expression(kind, depth)}"
        if self.chance(0.2):
            return self.block(kind, depth)
        if self.chance(0.1):
            return self.statement(depth).rstrip(";\n") or "()"
        return self.expression(kind, depth)

    def fixed(self, kind: str) -> str:
        """A literal without a variable in it."""
        names, self.names = self.names, []
        this, self.this = self.this, False
        noise, self.noise = self.noise, 0.0
        if kind in ("range", "fn", "any"):
            kind = "int"
        if kind == "string":
            text = str(self.pick(STRINGS))
        elif kind in ("array", "map"):
            text = str(self.pick(FIXED[kind]))
        else:
            text = self.literal(kind, 0)
        self.names, self.this, self.noise = names, this, noise
        return text

    def braces(self, kind: str, depth: int) -> str:
        return self.block(kind, depth - 1)

    def loop_expression(self, kind: str, depth: int) -> str:
        self.in_loop += 1
        body = self.block(kind, depth - 1, extra=f"break {self.atom(kind, depth)};")
        self.in_loop -= 1
        return f"loop {body}"

    def coalesce(self, kind: str, depth: int) -> str:
        return f"{self.chain('any', depth)} ?? {self.operand(kind, depth)}"

    def block(self, kind: str, depth: int, extra: str = "") -> str:
        raise NotImplementedError

    def statement(self, depth: int) -> str:
        raise NotImplementedError
