"""The page about security: each test that it names exists, and each threat has a control."""

from __future__ import annotations

import re

import pytest

from tests.house.places import ROOT

_PAGE = (ROOT / "docs" / "security.md").read_text()
_ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in _PAGE.splitlines()
    if re.match(r"\| [STRIDE]( [STRIDE])* \|", line)
]


def test_every_boundary_has_its_threats() -> None:
    tables = re.split(r"^### \d ", _PAGE, flags=re.MULTILINE)[1:]
    assert len(tables) == 6
    assert all(re.search(r"^\| I \|", table, re.MULTILINE) for table in tables)


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row[1][:40])
def test_every_threat_has_a_control_and_tests_that_exist(row: list[str]) -> None:
    _, threat, control, shown = row
    assert threat
    assert control
    named = re.findall(r"`([^`:]+)(?:::(\w+))?`", shown)
    assert named
    for path, test in named:
        text = (ROOT / "tests" / path).read_text()
        assert not test or re.search(rf"def {test}\(", text), f"{path}::{test}"


def test_the_policy_leads_to_the_page() -> None:
    assert "](docs/security.md#telling-us)" in (ROOT / "SECURITY.md").read_text()
    assert "\n## Telling us\n" in _PAGE
