"""Event loops of commands: how they begin, how a signal ends them, how they are left."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

_Result = TypeVar("_Result")
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_to_end(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a coroutine; the loop is left a moment after its end.

    Temporal's client hands back its last futures on threads of its own, and an interpreter that
    ends meanwhile can crash.
    """

    async def whole() -> _Result:
        try:
            return await work
        finally:
            await asyncio.sleep(0.1)

    return asyncio.run(whole())


def stop_on_signal() -> asyncio.Event:
    """An event that the first interrupt, termination or hang-up sets, instead of an exception."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _ENDING:
        loop.add_signal_handler(number, stop.set)
    return stop
