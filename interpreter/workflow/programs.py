"""The definitions of this process by revision: immutable content, filled before a task needs it.

A worker fills it while it decodes the start of a run, so a workflow never loads anything itself;
the content is addressed by its digest, so every replay sees the same bytes.
"""

from __future__ import annotations

from collections import OrderedDict

from interpreter.definition.document import Definition
from interpreter.machine.program import Program, prepare

_MOST_BYTES = 64 * 1024 * 1024


class Programs:
    """Prepared definitions by revision, the least recently used leave first."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._programs: OrderedDict[str, tuple[Program, int]] = OrderedDict()

    def put(self, definition: Definition, size: int) -> Program:
        """Prepare and keep a definition of ``size`` bytes; DefinitionError if it can not run."""
        known = self.get(definition.revision)
        if known is not None:
            return known
        program = prepare(definition)
        self._programs[definition.revision] = (program, size)
        self._bytes += size
        while self._bytes > self._most_bytes and len(self._programs) > 1:
            _, (_, freed) = self._programs.popitem(last=False)
            self._bytes -= freed
        return program

    def get(self, revision: str) -> Program | None:
        """The prepared definition, or None if this process does not hold it."""
        entry = self._programs.get(revision)
        if entry is None:
            return None
        self._programs.move_to_end(revision)
        return entry[0]


PROGRAMS = Programs()
"""The one cache of a process: the payload codec fills it, workflows read it."""
