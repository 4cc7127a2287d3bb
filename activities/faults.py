"""Named points at which a test may stop this process dead, to show what a crash leaves behind.

``COORDINATOR_FAULT=<point>`` kills the process with SIGKILL the first time the point is reached;
unset, a point costs one comparison.
"""

from __future__ import annotations

import json
import os
import signal
from typing import Final, Literal, TypeAlias, get_args

from temporalio import activity

Point: TypeAlias = Literal[
    "before-claim",
    "before-send",
    "after-send",
    "after-answer",
    "after-settle",
    "after-wait-opened",
    "before-observation",
    "after-observation",
    "after-resolution",
    "before-close",
    "after-close",
]
"""``before-send``: permission to send is committed, and not a byte is written. ``after-send``: the
whole request is written, its answer unread. ``after-settle``: the answer is committed, and Temporal
does not know. ``after-observation``: a poll has read its source, ``after-resolution``: and written
how the wait ended. A local read has no claim, and begins at ``before-send``.
"""

POINTS: Final[tuple[Point, ...]] = get_args(Point)

_CHOSEN = os.environ.get("COORDINATOR_FAULT", "")


def at(point: Point) -> None:
    """Die here if this point was chosen, with one line to stderr of where that was."""
    if point == _CHOSEN:
        local = activity.in_activity() and activity.info().is_local
        words = {"event": "fault.reached", "point": point, "local": local}
        # Written past every buffer: there is nobody left to empty one.
        os.write(2, f"{json.dumps(words)}\n".encode())
        os.kill(os.getpid(), signal.SIGKILL)
