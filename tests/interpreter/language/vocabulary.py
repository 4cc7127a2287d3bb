"""The words random programs are made of: literals, names, methods, forms and fragments."""

from __future__ import annotations

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
