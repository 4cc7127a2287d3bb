"""Every code has its page, every page its code, and every code of the checks is in the table."""

from __future__ import annotations

import re

import pytest

from adapter.authoring import CODES
from tests.house.places import ROOT, python_files

PAGES = ROOT / "docs" / "reference" / "diagnostics"
CODE = re.compile(r'"((?:yaml|config|coordinator\.[a-z]+)\.[a-z0-9-]+)"')


@pytest.mark.parametrize("code", CODES)
def test_a_code_has_a_page_with_meaning_example_and_remedy(code: str) -> None:
    text = (ROOT / CODES[code].page).read_text()
    assert text.startswith(f"# {code}\n")
    assert f"Severity: **{CODES[code].severity.value}**" in text
    for heading in ("## What it means", "## Example", "## What to do"):
        assert heading in text


def test_no_page_is_left_over() -> None:
    pages = {path.stem for path in PAGES.glob("*.md")} - {"index"}
    assert pages == set(CODES)


def test_the_index_lists_every_code() -> None:
    index = (PAGES / "index.md").read_text()
    assert all(f"[{code}]({code}.md)" in index for code in CODES)


def test_every_code_that_a_check_names_is_in_the_table() -> None:
    named = {
        code
        for room in ("adapter/authoring", "adapter/config")
        for path in python_files(room)
        for code in CODE.findall((ROOT / path).read_text())
    }
    assert named <= set(CODES)
