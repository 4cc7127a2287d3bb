"""Named points at which a test may stop this process dead, to show what a crash leaves behind.

``COORDINATOR_FAULT=<point>`` kills the process with SIGKILL the first time the point is reached;
unset, a point costs one comparison.
"""

from __future__ import annotations

import os
import signal

POINTS = ("before-claim", "after-claim", "after-answer", "after-settle")

_CHOSEN = os.environ.get("COORDINATOR_FAULT", "")


def at(point: str) -> None:
    """Die here if this point was chosen."""
    if point == _CHOSEN:
        os.kill(os.getpid(), signal.SIGKILL)
