"""The command ``python -m tests.canary``: values that must not stand anywhere, looked for there."""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.canary.scan import scan

_BEGAN = time.monotonic()


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _report(text: str) -> None:
    _say(f"{time.monotonic() - _BEGAN:4.0f} s: {text}")


def main() -> int:
    """Scan; 0 when every place was searched and none holds a value, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.canary", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="keep the deployment's folder")
    parser.add_argument("--short", action="store_true", help="a story of fewer runs")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="coordinator-canary-"))
    # PostgreSQL may run as another account, which has to pass through.
    folder.chmod(0o755)
    verdict = asyncio.run(scan(folder, _report, short=asked.short))
    for complaint in verdict.complaints:
        _say(complaint)
    if verdict.good and not asked.keep:
        shutil.rmtree(folder)
    else:
        _say(f"everything that was searched is kept in {folder}")
    _report("done")
    _say(verdict.line)
    return 0 if verdict.good else 1


if __name__ == "__main__":
    sys.exit(main())
