"""The public face of a compiled source text."""

from __future__ import annotations

import math
import sys
from typing import Any

import pytest

from interpreter.language import CompileError, EvaluationError, JsonValue, compile_source


def test_a_function_gives_its_value_its_type_and_its_operations() -> None:
    found = compile_source("fn f(x) { x + 1 }").evaluate("f", [41])
    assert (found.value, found.type, found.operations) == (42, "i64", 4)


def test_functions_are_listed_with_arity_access_and_place() -> None:
    program = compile_source("fn f(a, b) { a }\n  private fn g() { 1 }")
    assert [tuple(function) for function in program.functions] == [
        ("f", 2, True, 1, 1),
        ("g", 0, False, 2, 11),
    ]


def test_the_empty_source_is_a_program_without_functions() -> None:
    assert compile_source("").functions == ()


def test_a_compile_error_names_line_and_column() -> None:
    with pytest.raises(CompileError) as caught:
        compile_source("fn f() {\n  let x = ;\n}")
    assert (caught.value.line, caught.value.column) == (2, 11)
    assert str(caught.value) == "an expression is expected (line 2, column 11)"


def test_an_argument_is_never_changed_by_a_function() -> None:
    argument = {"list": [1]}
    assert compile_source("fn f(a) { a.list.push(2); a }").call("f", [argument]) == {"list": [1, 2]}
    assert argument == {"list": [1]}


def test_two_calls_share_no_state() -> None:
    program = compile_source("fn f() { let a = [1]; a.push(2); a }")
    first = program.call("f", [])
    first.append(3)
    assert program.call("f", []) == [1, 2]


def test_members_of_an_object_come_in_the_order_of_their_bytes() -> None:
    value = compile_source('fn f() { #{b: 1, a: 2, "Z": 3, "é": 4} }').call("f", [])
    assert list(value) == ["Z", "a", "b", "é"]


@pytest.mark.parametrize(
    ("source", "arguments", "kind"),
    [
        ("fn f() { throw 1 }", [], "execution"),
        ("fn f() { g() }", [], "execution"),
        ("fn f(x) { x }", [], "execution"),
        ("fn f() { loop {} }", [], "resource"),
        ("fn f() { f() }", [], "resource"),
        ("fn f() { 0..3 }", [], "output"),
        ("fn f(x) { x }", [math.nan], "input"),
        ("fn f(x) { x }", [{1: 2}], "input"),
        ("fn f(x) { x }", [object()], "input"),
        ("fn f(x) { x }", ["\ud800"], "input"),
        ("fn f(x) { x }", [10**400], "input"),
    ],
)
def test_a_failure_has_the_kind_of_its_cause(source: str, arguments: list[Any], kind: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        compile_source(source).call("f", arguments)
    assert caught.value.kind == kind


def test_a_failure_names_where_it_happened_and_no_value() -> None:
    program = compile_source("fn f(x) {\n  let y = x;\n  y.secret.more\n}")
    with pytest.raises(EvaluationError) as caught:
        program.call("f", [{"secret": 12345}])
    assert (caught.value.line, caught.value.column) == (3, 12)
    assert "12345" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "type_name"),
    [(2**63, "f64"), (2**63 - 1, "i64"), (-(2**63), "i64"), (1.0, "f64"), (None, "()")],
)
def test_a_number_beyond_64_bits_becomes_a_float(value: JsonValue, type_name: str) -> None:
    found = compile_source("fn f(x) { x }").evaluate("f", [value])
    assert (found.type, found.value) == (type_name, value)


def test_a_number_that_is_not_finite_comes_out_as_null() -> None:
    assert compile_source("fn f(x) { x / 0.0 }").evaluate("f", [1.0])[:2] == (None, "f64")


def test_a_character_comes_out_as_a_string() -> None:
    assert compile_source('fn f() { "abc"[0] }').evaluate("f", [])[:2] == ("a", "char")


def test_a_program_that_nests_deeply_never_overflows_the_stack() -> None:
    inner = "f(n - 1)"
    for _ in range(5):
        inner = f"#{{a: [1 + ({inner} ?? 0)]}}.a[0]"
    program = compile_source(f"fn f(n) {{ if n == 0 {{ 0 }} else {{ {inner} }} }}")
    assert program.call("f", [1]) == 5
    with pytest.raises(EvaluationError) as caught:
        program.call("f", [32])
    assert caught.value.kind == "resource"


def test_a_caller_deep_in_its_own_stack_gets_an_error_and_no_overflow() -> None:
    program = compile_source("fn f(n) { if n == 0 { 0 } else { 1 + f(n - 1) } }")

    def deep(levels: int) -> JsonValue:
        return deep(levels - 1) if levels else program.call("f", [30])

    frame, used = sys._getframe(), 0
    while frame.f_back is not None:
        frame, used = frame.f_back, used + 1
    with pytest.raises(EvaluationError) as caught:
        deep(sys.getrecursionlimit() - used - 60)
    assert caught.value.kind == "resource"


def test_callbacks_inside_callbacks_can_not_run_without_end() -> None:
    source = 'fn g() { big.map(Fn("h")) }'.replace("big", "[" + "1," * 200 + "]")
    for name, inner in (("h", "i"), ("i", "j"), ("j", "k")):
        source += f'fn {name}() {{ [{"1," * 200}].map(Fn("{inner}")) }}'
    program = compile_source(source + "fn k() { this } fn f() { g() }")
    with pytest.raises(EvaluationError) as caught:
        program.call("f", [])
    assert caught.value.kind == "resource"
