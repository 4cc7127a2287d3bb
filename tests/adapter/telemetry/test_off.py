"""A process without telemetry: nothing of it is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

from adapter.telemetry.process import SILENT
from tests.fixtures.deployment import ROOT

_CODE = """
import sys
import adapter.wiring.{module}
from adapter.telemetry.process import SILENT
SILENT.admitted()
found = SILENT.interceptors, SILENT.calls, SILENT.runtime, SILENT.around(len)
assert found == ((), None, None, len)
costly = ("opentelemetry.sdk", "opentelemetry.exporter", "temporalio.contrib.opentelemetry")
sys.exit(sum(name.startswith(costly) for name in sys.modules))
"""


@pytest.mark.parametrize("module", ["api_process", "worker_process"])
def test_a_process_without_telemetry_imports_nothing_for_it(module: str) -> None:
    code = _CODE.format(module=module)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, timeout=60)
    assert done.returncode == 0


def test_a_silent_process_looks_on_at_nothing() -> None:
    assert (SILENT.meters, SILENT.spans) == (None, None)
