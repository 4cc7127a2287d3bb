"""The name that an author probably meant."""

from __future__ import annotations

import pytest

from adapter.authoring.diagnostics.nearest import nearest, suggestion


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("reveiw", ["review", "result"], "review"),
        ("Review", ["review"], "review"),
        ("read_record", ["read-record"], "read-record"),
        ("doen", ["done", "den"], "den"),
        ("xyz", ["review"], None),
        ("", ["review"], None),
        ("x" * 1000, ["review"], None),
    ],
)
def test_the_nearest_name_is_close(name: str, known: list[str], meant: str | None) -> None:
    assert nearest(name, known) == meant


def test_a_few_names_are_listed_when_none_is_near() -> None:
    assert suggestion("xyz", ["b", "a"]) == "use one of `a`, `b`"
    assert suggestion("xyz", [f"name-{index}" for index in range(20)]) == ""
