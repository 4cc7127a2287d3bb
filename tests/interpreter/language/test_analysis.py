"""What the checker asks of a program without running it."""

from __future__ import annotations

import pytest

from interpreter.language import compile_source


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('"a"', {"a"}),
        ('if x { "a" } else { "b" }', {"a", "b"}),
        ('if x { return "a"; } "b"', {"a", "b"}),
        ('switch x { 1 => "a", 2 | 3 if x > 2 => { "b" } _ => "c" }', {"a", "b", "c"}),
        ('let y = 1; return if x { "a" } else { other(x) };', {"a", "o"}),
        ('if x { "a" } else if x == 1 { throw "no" } else { "b" }', {"a", "b"}),
        ('if x { "a" }', None),
        ('switch x { 1 => "a" }', None),
        ("x", None),
        ('"a" + "b"', None),
        ("f(x)", None),
        ("", None),
        ("return", None),
    ],
)
def test_the_strings_a_function_returns_are_told_when_they_can(
    body: str, expected: set[str] | None
) -> None:
    program = compile_source(f'fn f(x) {{ {body} }} fn other(x) {{ "o" }}')
    assert program.returned_strings("f") == (None if expected is None else frozenset(expected))


def test_an_unknown_function_returns_nothing_that_can_be_told() -> None:
    assert compile_source("").returned_strings("f") is None


def test_a_function_that_nothing_can_call_is_unreferenced() -> None:
    program = compile_source("fn a() { b() } fn b() { 1 } fn c() { d() } fn d() { c() }")
    assert program.unreferenced(["a"]) == {"c", "d"}


@pytest.mark.parametrize("use", ["b()", "b.call()", 'Fn("b").call()', "1.b()", "call(b)", '"b"'])
def test_every_way_to_name_a_function_is_a_reference(use: str) -> None:
    program = compile_source(f"fn a() {{ let x = [#{{k: {use}}}]; x }} fn b() {{ 1 }}")
    assert program.unreferenced(["a"]) == frozenset()
