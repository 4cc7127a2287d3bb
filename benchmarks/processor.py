"""CPU time of groups of processes, from /proc (Linux); zero where there is none."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

_PROC = Path("/proc")


class ProcessorTimes:
    """Reads how many CPU seconds each group of processes has spent, children included."""

    def __init__(self, groups: Mapping[str, Sequence[int]]) -> None:
        self._groups = groups
        self._ticks = os.sysconf("SC_CLK_TCK")

    def read(self) -> dict[str, float]:
        """CPU seconds so far of each group, and of this process as ``client``."""
        spent, parents = _processes()
        seconds = {
            name: sum(_with_children(process, spent, parents) for process in group) / self._ticks
            for name, group in self._groups.items()
        }
        return {**seconds, "client": spent.get(os.getpid(), 0) / self._ticks}

    def since(self, before: Mapping[str, float]) -> dict[str, float]:
        """CPU seconds spent since an earlier reading."""
        return {name: now - before[name] for name, now in self.read().items()}


def _processes() -> tuple[dict[int, int], dict[int, int]]:
    """Ticks (waited-for children included) and parent of every process."""
    spent: dict[int, int] = {}
    parents: dict[int, int] = {}
    for entry in _PROC.glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        process = int(entry.parent.name)
        parents[process] = int(fields[1])
        # utime, stime, cutime, cstime: fields 14 to 17 of proc(5), the first two are cut off.
        spent[process] = sum(map(int, fields[11:15]))
    return spent, parents


def _with_children(process: int, spent: Mapping[int, int], parents: Mapping[int, int]) -> int:
    children = [child for child, parent in parents.items() if parent == process]
    own = spent.get(process, 0)
    return own + sum(_with_children(child, spent, parents) for child in children)
