"""How a worker process looks after its memory."""

from __future__ import annotations

import gc
from typing import Final

_YOUNG: Final = 10_000


def spare_collections() -> None:
    """Let the collector of cycles run more rarely, and never over what was loaded at the start.

    A thousand runs in memory are old objects that it would walk through again and again; what a
    task leaves behind is freed by its reference counts (Python's documentation of ``gc.freeze``).
    Once, when a process is ready for its first task.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, *gc.get_threshold()[1:])
