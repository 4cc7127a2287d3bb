"""The short ordeal: a dozen runs while PostgreSQL, Temporal, the service and a worker die."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.fixtures.deployment import ROOT

_LAST = re.compile(
    r"runs 12, lost 0, duplicate effects 0, wrong accepted 0, attention \d+, faults \d+"
)
# With this seed each of the four processes dies once.
_SEED = "187"


@pytest.mark.timeout(420)
def test_nothing_is_lost_doubled_or_wrongly_told_whoever_dies() -> None:
    asked = ("--runs", "12", "--faults", "4", "--seed", _SEED, "--patience", "300")
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos", *asked],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert _LAST.fullmatch(done.stdout.splitlines()[-1])
