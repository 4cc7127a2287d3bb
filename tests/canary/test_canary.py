"""The scan itself: what makes it fail, and a short one of a real deployment."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.canary.markers import CONTROL, Markers
from tests.canary.places import Place
from tests.canary.reading import Contents, NotSearched
from tests.canary.scan import Verdict, search_place
from tests.canary.search import Search
from tests.fixtures.deployment import ROOT

_LAST = re.compile(r"canaries \d{2,}, places searched 20, found 0")
_MARKERS = Markers()
_INPUT, _CONTROL = _MARKERS("input"), _MARKERS(CONTROL)


def _searched(*parts: str, meant: frozenset[str] = frozenset(), named: bool = True) -> Verdict:
    def read() -> Contents:
        return [(f"part {n}", part.encode()) for n, part in enumerate(parts)]

    verdict = Verdict()
    search = Search(_MARKERS.stem, _MARKERS.all)
    search_place(verdict, search, Place("a place", read, meant, named), _MARKERS)
    return verdict


def test_a_place_that_holds_a_marker_is_no_good_one() -> None:
    verdict = _searched(f"name {_CONTROL}", f"value {_INPUT}", f"value {_INPUT}")
    assert (verdict.searched, verdict.found, verdict.good) == (1, 1, False)
    assert verdict.complaints[0] == "a place: input, as text, in part 1"


def test_a_place_in_which_the_control_is_not_found_counts_as_unsearched() -> None:
    verdict = _searched("nothing that anybody would look for")
    assert (verdict.searched, verdict.found, verdict.good) == (0, 0, False)


def test_a_place_without_names_is_given_the_control() -> None:
    verdict = _searched("no name of anything", named=False)
    assert (verdict.searched, verdict.found, verdict.good) == (1, 0, True)


def test_a_place_that_can_not_be_read_is_a_complaint() -> None:
    def read() -> Contents:
        raise NotSearched("nobody answers")

    verdict = Verdict()
    search_place(verdict, Search(_MARKERS.stem, {}), Place("a place", read), _MARKERS)
    assert verdict.complaints == ["a place: not searched: nobody answers"]
    assert (verdict.searched, verdict.good) == (0, False)


def test_what_belongs_to_a_place_is_no_finding() -> None:
    verdict = _searched(f"{_CONTROL} {_INPUT}", meant=frozenset({"input"}))
    assert (verdict.searched, verdict.found, verdict.good) == (1, 0, True)


@pytest.mark.timeout(400)
def test_no_place_of_a_deployment_holds_a_value() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.canary", "--short"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=390,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert _LAST.fullmatch(done.stdout.splitlines()[-1])
