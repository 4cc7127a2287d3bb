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


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    """Scan; 0 when every place was searched and none holds a value, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.canary", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="keep the deployment's folder")
    asked = parser.parse_args()
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="coordinator-canary-"))
    # PostgreSQL may run as another account, which has to pass through.
    folder.chmod(0o755)
    verdict = asyncio.run(scan(folder, _say))
    for complaint in verdict.complaints:
        _say(complaint)
    if verdict.good and not asked.keep:
        shutil.rmtree(folder)
    else:
        _say(f"everything that was searched is kept in {folder}")
    _say(f"{time.monotonic() - began:.0f} s")
    _say(verdict.line)
    return 0 if verdict.good else 1


if __name__ == "__main__":
    sys.exit(main())
