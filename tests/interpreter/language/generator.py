"""Random programs of the language for differential testing: whole, broken and garbled ones."""

from __future__ import annotations

import random
from typing import Any

TYPES = ("int", "float", "bool", "string", "char", "array", "map", "unit", "range", "fn", "any")

INTEGERS = (
    "0", "1", "2", "3", "-1", "-2", "5", "7", "10", "42", "63", "64", "255", "256", "1_000",
    "9223372036854775807", "-9223372036854775808", "9223372036854775808", "0xff", "0b101", "0o17",
    "0x8000000000000000", "4294967296", "100", "-64", "-7",
)  # fmt: skip
FLOATS = (
    "0.0", "1.0", "-1.0", "0.5", "2.5", "1e3", "1.5e-7", "1e300", "123456789.125", "1e13", "-0.0",
    "0.1", "3.0e10", "1e-13", "99999999999999.0", "1e16", "0.0001", "7.", "1_0.5", "1e400", "12e-1",
)  # fmt: skip
STRINGS = (
    '""', '"a"', '"abc"', '"héllo"', '"a\\nb"', '"q\\"t"', '"x\\u00e9y"', '"\\U0001F600"',
    '"key"', '"a b"', "`back`", '#"raw"#', '##"r"#w"##', '"a""b"', '"\\x41"', '"b"', '"zz"',
    '"g"', '"h"', '"abs"', '"\\t"', "`line1\nline2`", '"1"', '"\u0301"',
)  # fmt: skip
CHARS = ("'a'", "'b'", "'z'", "'é'", "'\\n'", "'0'", "'\\''", "'\\u263a'")
NAMES = ("a", "b", "c", "x", "y", "z", "k", "v", "item", "n")
PROPERTIES = ("a", "b", "c", "key", "x", "len", "name", "start", "is_empty", "chars", "bits")
BINARY = (
    "+", "-", "*", "/", "%", "**", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=",
    "&&", "||", "??", "in", "!in", "..", "..=",
)  # fmt: skip
COMPOUND = ("+=", "-=", "*=", "/=", "%=", "**=", "<<=", ">>=", "&=", "|=", "^=", "=")
ARRAY_METHODS = (
    ("len", 0), ("is_empty", 0), ("get", 1), ("set", 2), ("push", 1), ("append", 1), ("insert", 2),
    ("pad", 2), ("pop", 0), ("shift", 0), ("remove", 1), ("clear", 0), ("truncate", 1),
    ("chop", 1), ("reverse", 0), ("splice", 3), ("splice", 2), ("extract", 1), ("extract", 2),
    ("split", 1), ("drain", 1), ("drain", 2), ("retain", 1), ("retain", 2), ("contains", 1),
    ("index_of", 1), ("index_of", 2), ("sort", 0), ("sort", 1), ("sort_desc", 0), ("order", 0),
    ("order_desc", 0), ("order_by", 1), ("sort_by", 1), ("dedup", 0), ("dedup", 1), ("map", 1),
    ("filter", 1), ("for_each", 1), ("reduce", 1), ("reduce", 2), ("reduce_rev", 1),
    ("reduce_rev", 2), ("find", 1), ("find", 2), ("find_map", 1), ("some", 1), ("all", 1),
    ("zip", 2), ("to_string", 0), ("to_debug", 0), ("order", 1),
)  # fmt: skip
MAP_METHODS = (
    ("len", 0), ("is_empty", 0), ("contains", 1), ("get", 1), ("set", 2), ("clear", 0),
    ("remove", 1), ("mixin", 1), ("fill_with", 1), ("keys", 0), ("values", 0), ("map", 1),
    ("filter", 1), ("drain", 1), ("retain", 1), ("to_json", 0), ("to_string", 0),
    ("to_debug", 0), ("fld", 0), ("fld", 1),
)  # fmt: skip
OTHER_METHODS = (
    ("to_string", 0), ("to_debug", 0), ("abs", 0), ("sign", 0), ("is_zero", 0), ("is_odd", 0),
    ("is_even", 0), ("to_hex", 0), ("to_octal", 0), ("to_binary", 0), ("to_int", 0), ("max", 1),
    ("min", 1), ("chars", 0), ("chars", 1), ("chars", 2), ("bits", 0), ("bits", 1), ("bits", 2),
    ("start", 0), ("end", 0), ("is_inclusive", 0), ("is_exclusive", 0), ("is_empty", 0),
    ("contains", 1), ("type_of", 0), ("is_shared", 0), ("call", 0), ("call", 1), ("call", 2),
    ("curry", 1), ("g", 0), ("g", 1), ("h", 0), ("h", 1), ("m", 0), ("m", 1), ("m", 2),
    ("missing", 1), ("len", 0), ("range", 1), ("trim", 0),
)  # fmt: skip
FUNCTIONS = (
    ("type_of", 1), ("to_string", 1), ("to_debug", 1), ("abs", 1), ("sign", 1), ("max", 2),
    ("min", 2), ("range", 2), ("range", 3), ("len", 1), ("push", 2), ("keys", 1), ("values", 1),
    ("contains", 2), ("is_shared", 1), ("is_def_var", 1), ("is_def_fn", 2), ("Fn", 1),
    ("call", 1), ("call", 2), ("curry", 2), ("call", 3), ("g", 0), ("g", 1), ("g", 2), ("h", 0),
    ("h", 1), ("h", 2), ("m", 1), ("m", 2), ("missing", 0), ("missing", 1), ("sort", 1), ("pop", 1),
    ("append", 2), ("to_hex", 1), ("chars", 1), ("bits", 1), ("index_of", 2), ("map", 2),
    ("filter", 2), ("reduce", 2), ("remove", 2), ("timestamp", 0), ("sleep", 1), ("is_odd", 1),
)  # fmt: skip

# Object, method, kinds of the arguments, kind of the result: calls that mostly succeed.
TYPED_METHODS = (
    ("array", "len", (), "int"), ("array", "is_empty", (), "bool"), ("array", "pop", (), "int"),
    ("array", "get", ("int",), "int"), ("array", "shift", (), "int"),
    ("array", "remove", ("int",), "int"),
    ("array", "contains", ("any",), "bool"), ("array", "index_of", ("any",), "int"),
    ("array", "index_of", ("any", "int"), "int"), ("array", "extract", ("int",), "array"),
    ("array", "extract", ("int", "int"), "array"), ("array", "extract", ("range",), "array"),
    ("array", "split", ("int",), "array"), ("array", "drain", ("int", "int"), "array"),
    ("array", "drain", ("range",), "array"), ("array", "retain", ("range",), "array"),
    ("array", "retain", ("int", "int"), "array"), ("array", "order_desc", (), "array"),
    ("array", "map", ("one",), "array"), ("array", "filter", ("one",), "array"),
    ("array", "map", ("name",), "array"), ("array", "filter", ("name",), "array"),
    ("array", "find", ("one",), "int"), ("array", "find_map", ("one",), "int"),
    ("array", "find", ("one", "int"), "int"), ("array", "some", ("one",), "bool"),
    ("array", "all", ("one",), "bool"), ("array", "reduce", ("two",), "any"),
    ("array", "reduce", ("two", "any"), "any"), ("array", "reduce_rev", ("two", "int"), "any"),
    ("array", "index_of", ("one",), "int"), ("array", "order", ("two",), "array"),
    ("array", "drain", ("one",), "array"), ("array", "retain", ("one",), "array"),
    ("array", "zip", ("array", "two"), "array"), ("array", "to_string", (), "string"),
    ("array", "to_debug", (), "string"), ("array", "order", (), "array"),
    ("map", "len", (), "int"), ("map", "is_empty", (), "bool"), ("map", "get", ("string",), "any"),
    ("map", "contains", ("string",), "bool"), ("map", "remove", ("string",), "any"),
    ("map", "keys", (), "array"), ("map", "values", (), "array"), ("map", "to_json", (), "string"),
    ("map", "to_string", (), "string"), ("map", "to_debug", (), "string"),
    ("map", "map", ("two",), "map"), ("map", "filter", ("two",), "map"),
    ("map", "drain", ("two",), "map"), ("map", "retain", ("one",), "map"),
    ("int", "to_string", (), "string"), ("int", "abs", (), "int"), ("int", "sign", (), "int"),
    ("int", "is_odd", (), "bool"), ("int", "is_zero", (), "bool"), ("int", "to_hex", (), "string"),
    ("int", "to_binary", (), "string"), ("int", "to_octal", (), "string"),
    ("int", "max", ("int",), "int"), ("int", "min", ("float",), "float"),
    ("float", "abs", (), "float"), ("float", "sign", (), "int"),
    ("float", "to_string", (), "string"),
    ("float", "to_debug", (), "string"), ("float", "max", ("float",), "float"),
    ("char", "to_int", (), "int"), ("char", "to_string", (), "string"),
    ("char", "to_debug", (), "string"), ("string", "to_string", (), "string"),
    ("string", "to_debug", (), "string"), ("any", "type_of", (), "string"),
    ("any", "to_string", (), "string"), ("any", "to_debug", (), "string"),
    ("any", "is_shared", (), "bool"), ("range", "start", (), "int"), ("range", "end", (), "int"),
    ("range", "is_empty", (), "bool"), ("range", "contains", ("int",), "bool"),
    ("range", "is_inclusive", (), "bool"), ("unit", "to_string", (), "string"),
    ("fn", "curry", ("int",), "fn"),
)  # fmt: skip
TYPED_MUTATIONS = (
    ("array", "push", ("any",)), ("array", "push", ("int",)), ("array", "append", ("array",)),
    ("array", "insert", ("int", "any")), ("array", "pad", ("int", "any")),
    ("array", "set", ("int", "any")), ("array", "clear", ()), ("array", "truncate", ("int",)),
    ("array", "chop", ("int",)), ("array", "reverse", ()), ("array", "sort", ("two",)),
    ("array", "sort_desc", ()), ("array", "sort", ()), ("array", "dedup", ()),
    ("array", "splice", ("int", "int", "array")), ("array", "splice", ("range", "array")),
    ("array", "for_each", ("one",)), ("array", "dedup", ("two",)), ("array", "sort_by", ("two",)),
    ("map", "set", ("string", "any")), ("map", "mixin", ("map",)), ("map", "fill_with", ("map",)),
    ("map", "clear", ()),
)  # fmt: skip
OPERATIONS = {
    "int": ("+", "-", "*", "/", "%", "**", "<<", ">>", "&", "|", "^"),
    "float": ("+", "-", "*", "/", "%", "**"),
    "string": ("+", "+", "-"),
    "array": ("+",),
    "map": ("+",),
    "bool": ("&", "|", "^", "&&", "||", "==", "!="),
    "char": (),
}
FIXED = {
    "array": ("[]", "[1, 2]", '["a"]', "[[], 0.5]", "[1..3, ()]", "[true, 'a']", "[`x`, #{a: 1}]"),
    "map": ("#{}", "#{a: 1}", '#{"b": [2]}'),
}
COMPARED = ("==", "!=", "<", "<=", ">", ">=")


class Generator:
    """Makes programs from one seed."""

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


TYPED_FORMS = (
    ("typed_operation",) * 8 + ("typed_method",) * 7 + ("typed_index",) * 2 + ("typed_call",) * 3
    + ("typed_negation", "conditional", "switch", "braces", "coalesce", "loop_expression")
    + ("conditional", "switch", "chain")
)  # fmt: skip
FORMS = (
    ("binary",) * 6 + ("index",) * 2 + ("property",) * 2 + ("method",) * 4 + ("chain",) * 3
    + ("call",) * 4 + ("unary", "conditional", "switch", "braces", "coalesce", "loop_expression")
)  # fmt: skip
STATEMENTS = (
    ("let",) * 5 + ("assign",) * 5 + ("plain",) * 2 + ("mutate",) * 3 + ("if_statement",) * 2
    + ("for_statement",) * 2 + ("leave", "while_statement", "try_statement", "try_statement")
    + ("comment", "block_statement", "ending")
)  # fmt: skip
FRAGMENTS = (
    " ", "\n", ";", ",", ")", "(", "}", "{", "]", "[", '"', "`", "'", "${", "#{", "=", "==", "=>",
    "->", "<-", ":=", "::", ":", ".", "..", "...", "?.", "?[", "??", "?", "!", "~", "@", "$", "#",
    "++", "--", "+", "-", "*", "**", "/", "//", "/*", "*/", "%", "&", "&&", "|", "||", "^", "<",
    ">", "<<", ">>=", "let ", "const ", "if ", "else ", "fn ", "private ", "return ", "throw ",
    "try ", "catch ", "switch ", "for ", "in ", "!in ", "while ", "loop ", "do ", "until ",
    "break ", "continue ", "import ", "export ", "eval", "print", "debug", "this", "true", "as ",
    "var ", "new ", "match ", "Fn", "call", "curry", "type_of", "_", "0x", "0b2", "1e", "1.",
    "9" * 25,
    "é", "\u2028", "\0", "\r\n", "\r", "\t", "\x0b", "\\", "\\u{1}", "===", "(*", "*)", "# {",
    "#!", "'ab'", "''", "|x| x", "() ", "0_1", "_a", "__", "_1", "a::b", "a::b()", "x!(1)",
)  # fmt: skip
