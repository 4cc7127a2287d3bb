"""The table a program's commands stand in, and the help that is written from it at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a command is, and the one sentence that help shows without importing it.

    An entry with ``commands`` is a group of them and has no function of its own.
    """

    module: str
    function: str
    help: str
    passes_arguments_on: bool = False
    commands: Mapping[str, Entry] = field(default_factory=dict)


def run_program(
    program: str, help: str, entries: Mapping[str, Entry], arguments: Sequence[str] | None
) -> int:
    """Run a program's command line; help and version come without importing any command."""
    _occupy_standard_descriptors()
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given in ([], ["--help"]):
        return _told(_help_text(program, help, entries))
    if given == ["--version"]:
        from importlib.metadata import version

        return _told(f"{program} {version('coordinator-temporal')}\n")
    from adapter.cli.lazy import LazyGroup
    from adapter.cli.outcome import run

    return run(LazyGroup(program, help, entries), program, given)


def _occupy_standard_descriptors() -> None:
    """Have nothing that is opened later stand where input, output and errors are written."""
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(opened)


def _told(text: str) -> int:
    from adapter.cli.terminal import OutputGone, Terminal, lose_output
    from adapter.errors import Unavailable

    terminal = Terminal()
    try:
        terminal.write(text)
    except OutputGone:
        return lose_output()
    except Unavailable as error:
        terminal.error(error, "unavailable")
        return error.exit_code
    return 0


def _help_text(program: str, help: str, entries: Mapping[str, Entry]) -> str:
    width = max(map(len, entries))
    lines = [f"  {name:<{width}}  {entry.help}" for name, entry in entries.items()]
    usage = f"Usage: {program} COMMAND [OPTIONS]\n\n{help}\n\nCommands:\n"
    hint = f"\n`{program} COMMAND --help` tells a command's options; --version the version.\n"
    return usage + "\n".join(lines) + "\n" + hint
