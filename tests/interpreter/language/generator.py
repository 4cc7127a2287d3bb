"""Random programs of the language for differential testing: whole, broken and garbled ones."""

from __future__ import annotations

from typing import Any

from tests.interpreter.language.expression_generator import ExpressionGenerator
from tests.interpreter.language.vocabulary import (
    ARRAY_METHODS,
    BINARY,
    COMPOUND,
    FRAGMENTS,
    MAP_METHODS,
    NAMES,
    OPERATIONS,
    PROPERTIES,
    STATEMENTS,
    TYPED_MUTATIONS,
    TYPES,
)


class Generator(ExpressionGenerator):
    """Makes programs from one seed."""

    # Statements -----------------------------------------------------------------------------

    def block(self, kind: str, depth: int, extra: str = "") -> str:
        mark = len(self.names)
        parts = [self.statement(depth) for _ in range(self.r.randint(0, 2))]
        if extra:
            parts.append(extra)
        if self.chance(0.85):
            parts.append(self.expression(kind, depth))
        del self.names[mark:]
        return "{ " + " ".join(parts) + " }"

    def statement(self, depth: int) -> str:
        form = self.pick(STATEMENTS)
        return str(getattr(self, form)(depth))

    def let(self, depth: int) -> str:
        kind = self.pick(TYPES[:-1])
        value = self.expression(kind, depth)
        name = self.pick(NAMES)
        word = "const" if self.chance(0.2) else "let"
        self.names.append((name, kind))
        (self.constants.add if word == "const" else self.constants.discard)(name)
        if self.chance(0.05):
            return f"{word} {name};"
        return f"{word} {name} = {value};"

    def assign(self, depth: int) -> str:
        kind = self.pick(("int", "int", "string", "array", "any", "float", "map"))
        name = self.variable(kind)
        if name is None or (name in self.constants and not self.chance(self.noise)):
            return self.let(depth)
        if not self.chance(self.noise):
            return self.typed_assign(name, depth)
        if self.this and self.chance(0.2):
            name = "this"
        target = name
        if self.chance(0.4):
            for _ in range(self.r.randint(1, 2)):
                if self.chance(0.5):
                    target += f".{self.pick(PROPERTIES[:5])}"
                else:
                    keys = ("0", "1", "-1", '"a"', '"n"', "0..2", "1..=1", self.atom("int", 1))
                    target += f"[{self.pick(keys)}]"
        symbol = self.pick(COMPOUND) if self.chance(0.5) else "="
        value = self.expression(kind, depth)
        if symbol == "=" and self.chance(0.25):
            value = f"{name} {self.pick(BINARY[:11])} {self.operand(kind, depth)}"
        return f"{target} {symbol} {value};"

    def typed_assign(self, name: str, depth: int) -> str:
        kind = dict(self.names)[name]
        if self.this and self.chance(0.2):
            name = "this"
        if kind == "map" and self.chance(0.6):
            key = self.pick(('["a"]', '["n"]', ".a", ".b", ".key"))
            symbol = self.pick(("=", "=", "=", "+="))
            return f"{name}{key} {symbol} {self.expression('any', depth)};"
        if kind == "array" and self.chance(0.6):
            return f"{name}[{self.pick(('0', '-1', '1'))}] = {self.expression('any', depth)};"
        if kind == "string" and self.chance(0.3):
            key, value = self.pick((("0", "char"), ("-1", "char"), ("0..1", "string")))
            return f"{name}[{key}] = {self.expression(value, depth)};"
        if kind == "int" and self.chance(0.2):
            key, value = self.pick((("0", "bool"), ("-1", "bool"), ("0..3", "int"), ("2", "bool")))
            return f"{name}[{key}] = {self.expression(value, depth)};"
        symbols = [f"{symbol}=" for symbol in OPERATIONS.get(kind, ()) if len(symbol) < 3]
        symbols = [symbol for symbol in symbols if symbol in COMPOUND] or ["="]
        symbol = self.pick(symbols) if self.chance(0.6) else "="
        if symbol == "=" and self.chance(0.3) and OPERATIONS.get(kind):
            operator = self.pick(OPERATIONS[kind])
            return f"{name} = {name} {operator} {self.operand(kind, depth)};"
        return f"{name} {symbol} {self.expression(kind, depth)};"

    def plain(self, depth: int) -> str:
        return self.expression("any", depth) + ";"

    def mutate(self, depth: int) -> str:
        name = self.variable(self.pick(("array", "map")))
        if name is None:
            return self.let(depth)
        kind = dict(self.names)[name]
        fitting = [entry for entry in TYPED_MUTATIONS if entry[0] == kind]
        if not fitting or self.chance(self.noise):
            method, count = self.pick(ARRAY_METHODS + MAP_METHODS)
            return f"{name}.{method}({self.arguments(count, depth - 1)});"
        if name in self.constants and not self.chance(self.noise):
            return self.let(depth)
        _, method, kinds = self.pick(fitting)
        arguments = ", ".join(self.expression(argument, depth - 1) for argument in kinds)
        return f"{name}.{method}({arguments});"

    def if_statement(self, depth: int) -> str:
        text = f"if {self.expression('bool', depth - 1)} {self.block('any', depth - 1)}"
        while self.chance(0.3):
            text += f" else if {self.expression('bool', depth - 1)} {self.block('any', depth - 1)}"
        if self.chance(0.4):
            text += f" else {self.block('any', depth - 1)}"
        return text

    def for_statement(self, depth: int) -> str:
        iterable = self.pick(
            ("range", "range", "array", "array", "string", "any", "stepped", "chars")
        )
        if iterable == "stepped":
            step = self.pick((1, 2, -1, -2, 0, 0.5))
            source = f"range({self.r.randint(-3, 6)}, {self.r.randint(-3, 6)}, {step})"
        elif iterable == "chars":
            source = f"{self.atom('string', 1)}.chars()"
        elif iterable == "range":
            source = f"{self.r.randint(-2, 2)}{self.pick(('..', '..='))}{self.r.randint(0, 4)}"
        else:
            source = self.expression(iterable, depth - 1)
        mark = len(self.names)
        name, counter = self.r.sample(NAMES, 2)
        head = name
        if self.chance(0.3):
            head = f"({name}, {counter})"
            self.names.append((counter, "int"))
        self.names.append((name, "int" if iterable in ("range", "array", "stepped") else "char"))
        self.in_loop += 1
        body = self.block("any", depth - 1)
        self.in_loop -= 1
        del self.names[mark:]
        return f"for {head} in {source} {body}"

    def while_statement(self, depth: int) -> str:
        name = self.pick(NAMES)
        limit = self.r.randint(0, 4)
        mark = len(self.names)
        self.names.append((name, "int"))
        self.in_loop += 1
        step = self.pick((f"{name} += 1;", f"{name} = {name} + 1;"))
        body = self.block("any", depth - 1, extra=step)
        self.in_loop -= 1
        del self.names[mark:]
        form = self.r.random()
        if form < 0.5:
            return f"let {name} = 0; while {name} < {limit} {body}"
        if form < 0.75:
            return f"let {name} = 0; do {body} while {name} < {limit};"
        return f"let {name} = 0; do {body} until {name} >= {limit};"

    def leave(self, depth: int) -> str:
        if self.in_loop and self.chance(0.7):
            word = self.pick(("break", "continue", "break"))
            if word == "break" and self.chance(0.5):
                return f"break {self.atom('any', 1)};"
            return f"{word};"
        condition = self.expression("bool", depth - 1)
        word = self.pick(("return", "return", "throw"))
        value = self.expression("any", depth - 1) if self.chance(0.85) else ""
        return f"if {condition} {{ {word} {value}; }}"

    def ending(self, depth: int) -> str:
        word = self.pick(("return", "throw"))
        return f"{word} {self.expression('any', depth - 1)};" if self.chance(0.3) else ";"

    def try_statement(self, depth: int) -> str:
        body = self.block("any", depth - 1)
        name = self.pick(("e", "err", "x"))
        mark = len(self.names)
        head = ""
        if self.chance(0.75):
            head = f"({name})"
            self.names.append((name, "map"))
        extra = self.pick(("throw;", "", "", "", f"{name};", f"a = {name};", f"return {name};"))
        branch = self.block("any", depth - 1, extra=extra)
        del self.names[mark:]
        return f"try {body} catch {head} {branch}"

    def comment(self, depth: int) -> str:
        return str(self.pick(("// c\n", "/* c */", "/* a /* b */ c */", "/// d\n", "\n", "  \t")))

    def block_statement(self, depth: int) -> str:
        return self.block("any", depth - 1)

    # Programs -------------------------------------------------------------------------------

    def function(self, name: str, parameters: list[tuple[str, str]], depth: int) -> str:
        self.names = list(parameters)
        self.constants = set()
        self.in_loop = 0
        self.budget = self.r.randint(5, 60)
        parts = [self.statement(depth) for _ in range(self.r.randint(0, 4))]
        if self.names and self.chance(0.3):
            latest = dict(self.names)
            shown = ", ".join(known for known in latest if latest[known] not in ("range", "fn"))
            parts.append(f"[{shown}]")
        else:
            parts.append(self.expression(self.pick(TYPES[:8]), depth))
        if name == "f" and self.chance(0.1):
            parts[-1] = "`${" + parts[-1] + "}`"
        self.this = False
        word = "private fn" if self.chance(0.05) else "fn"
        names = ", ".join(parameter for parameter, _ in parameters)
        return f"{word} {name}({names}) {{ {' '.join(parts)} }}"

    def program(self) -> tuple[str, list[Any]]:
        """A source text whose entry is ``f``, and arguments for it."""
        depth = self.r.choice((1, 2, 2, 3, 4))
        kinds = ("int", "float", "string", "array", "map", "bool", "any", "int", "array")
        functions = []
        for name in ("g", "h", "m"):
            arities = sorted({self.r.choice((0, 1, 1, 2)) for _ in range(self.r.randint(0, 2))})
            for arity in arities if self.overloads else arities[:1]:
                self.this = self.chance(0.4)
                names = self.r.sample(("p", "q", "a", "b"), arity)
                prefix = ""
                if self.chance(0.06):
                    types = ("int", "float", '"string"', "array", "map", '"range="')
                    prefix = self.pick(types) + "."
                parameters = [(known, self.pick(kinds)) for known in names]
                functions.append(self.function(prefix + name, parameters, self.r.randint(0, 2)))
                self.defined.append((name, arity))
        names = self.r.sample(("a", "b", "c", "x"), self.r.randint(0, 3))
        parameters = [(known, self.pick(kinds)) for known in names]
        functions.append(self.function("f", parameters, depth))
        if self.chance(0.03):
            functions.append(self.pick(("let z = 1;", "const Q = 2;", "f(1);", "{ 1 }")))
        self.r.shuffle(functions)
        arguments = [self.typed_value(kind) for _, kind in parameters]
        return self.pick((" ", "\n")).join(functions), arguments

    def typed_value(self, kind: str) -> Any:
        """A JSON argument of a kind."""
        if kind == "int":
            return self.pick((0, 1, 2, 3, -1, 5, 7, 10, 100, 2**63 - 1, -(2**63), 255))
        if kind == "float":
            return self.pick((0.5, 1.0, -2.25, 1e10, 0.1, 1e300, 0.0, 2.0))
        if kind == "string":
            return self.pick(("", "a", "abc", "héllo", "key", "g", "a\nb", "2024-01-02"))
        if kind == "bool":
            return self.chance(0.5)
        if kind == "array":
            inner = self.pick(("int", "int", "string", "any", "array"))
            return [self.typed_value(inner) for _ in range(self.r.randint(0, 4))]
        if kind == "map":
            names = self.r.sample(("a", "b", "c", "key", "x", "name", "q r"), self.r.randint(0, 4))
            return {name: self.value(1) for name in names}
        return self.value(2)

    def value(self, depth: int) -> Any:
        """A JSON argument."""
        form = self.r.random()
        if form < 0.3:
            return self.pick((0, 1, 2, 3, -1, 5, 7, 10, 100, 2**63 - 1, -(2**63), 255))
        if form < 0.4:
            return self.pick((0.5, 1.0, -2.25, 1e10, 0.1, 1e300, 0.0))
        if form < 0.55:
            return self.pick(("", "a", "abc", "héllo", "key", "g", "a\nb", "2024-01-02"))
        if form < 0.62:
            return self.pick((True, False))
        if form < 0.67 or depth <= 0:
            return None
        if form < 0.85:
            return [self.value(depth - 1) for _ in range(self.r.randint(0, 4))]
        names = self.r.sample(("a", "b", "c", "key", "x", "name", "q r"), self.r.randint(0, 4))
        return {name: self.value(depth - 1) for name in names}

    # Broken programs ------------------------------------------------------------------------

    def broken(self) -> tuple[str, list[Any]]:
        """A program with a few characters or words taken away, put in or exchanged."""
        source, arguments = self.program()
        for _ in range(self.r.randint(1, 3)):
            at = self.r.randrange(len(source) + 1)
            form = self.r.random()
            if form < 0.35:
                source = source[:at] + source[at + self.r.randint(1, 3) :]
            elif form < 0.75:
                source = source[:at] + self.pick(FRAGMENTS) + source[at:]
            else:
                other = self.r.randrange(len(source) + 1)
                first, second = sorted((at, other))
                source = source[:first] + source[second : second + 12] + source[first:]
        return source, arguments
