"""Whatever the source, the answer is a value or an error of the language."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpreter.language import LanguageError, compile_source
from interpreter.language.errors import PlacedError
from tests.interpreter.language.generator import Generator
from tests.interpreter.language.vocabulary import FRAGMENTS


def attempt(source: str, arguments: list[object]) -> None:
    """Compile and call; only an error of the language may come out."""
    failure: LanguageError | None = None
    try:
        compile_source(source).call("f", arguments)
    except LanguageError as error:
        failure = error
    assert failure is None or (isinstance(failure, PlacedError) and failure.message)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_any_text_gives_a_program_or_an_error(source: str) -> None:
    attempt(source, [])
    attempt("fn f() { " + source + " }", [])


@pytest.mark.parametrize("seed", range(0, 300, 10))
def test_mutated_programs_give_a_value_or_an_error(seed: int) -> None:
    for offset in range(10):
        generator = Generator(9_000_000 + seed + offset)
        source, arguments = generator.broken()
        attempt(source, arguments)


@pytest.mark.parametrize("seed", range(20))
def test_heaps_of_fragments_give_a_value_or_an_error(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(20):
        attempt("".join(chance.choices(FRAGMENTS, k=60)), [])


@pytest.mark.parametrize(
    "opening", ["(", "[", "{", "#{a: ", "-", "!", "g(", "`${", "if a { ", "x.", "a[", "1 + ", "/*"]
)
def test_nesting_without_end_is_refused(opening: str) -> None:
    attempt("fn f() { " + opening * 20_000, [])


@pytest.mark.parametrize(
    "body",
    [
        "9" * 60_000,
        "0x" + "f" * 60_000,
        "1." + "0" * 60_000,
        "1e" + "9" * 300,
        '"' + "x" * 60_000 + '"',
        "/" * 60_000,
        "a" * 60_000,
        "a;" * 30_000,
        "let a = 1;" * 6_000,
        "\0",
        "\r\n\r\r\n1",
        "\ufeff1",
        '"\U0001f600"[0]',
    ],
)
def test_large_and_odd_literals_are_taken_or_refused(body: str) -> None:
    attempt("fn f() { " + body + " }", [])


def test_half_a_surrogate_pair_is_refused_with_its_place() -> None:
    with pytest.raises(PlacedError) as caught:
        compile_source('fn f() {\n "\ud800" }')
    assert (caught.value.line, caught.value.column) == (2, 3)
