"""What a command says: one JSON object, or text that is plain when nobody is looking."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TextIO

from adapter.errors import Unavailable, told

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from interpreter.errors import CoordinatorError


GONE = 141
"""Whoever read the output has gone, as a shell says of a process that SIGPIPE has ended."""


class Format(StrEnum):
    """How results and errors are written."""

    TEXT = "text"
    JSON = "json"


class OutputGone(Exception):
    """Whoever read the output has gone; there is nobody left to tell.

    No OSError, of which the parser would make an exit code that means a refusal.
    """


class Terminal:
    """Writes results to stdout and, in text form, errors to stderr.

    In JSON form everything, errors included, is one object on stdout, and stderr stays empty
    unless stdout takes nothing.
    """

    def __init__(
        self, format: Format = Format.TEXT, out: TextIO | None = None, err: TextIO | None = None
    ) -> None:
        self.format = format
        self._out = out
        self._err: TextIO | None = err or sys.stderr

    @property
    def out(self) -> TextIO:
        """Where results go; looked up each time, because a live drawing takes stdout over.

        Raises Unavailable ``output.unwritable`` in a process whose stdout is closed.
        """
        out: TextIO | None = self._out or sys.stdout
        if out is None:
            raise _unwritable()
        return out

    @property
    def live(self) -> bool:
        """Whether a person watches: text on a real terminal."""
        return self.format is Format.TEXT and self.out.isatty()

    def write(self, text: str) -> None:
        """Write text as it is.

        Raises Unavailable ``output.unwritable`` when it can go nowhere, and OutputGone when
        whoever read it has gone.
        """
        try:
            self.out.write(text)
            self.out.flush()
        except BrokenPipeError as error:
            raise OutputGone from error
        except OSError as error:
            raise _unwritable() from error

    def object(self, value: Any) -> None:
        """Write one JSON object, on a single line only if it is part of a stream."""
        self.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")

    def json_line(self, value: Any) -> None:
        """Write one JSON object of a stream."""
        self.write(json.dumps(value, ensure_ascii=False) + "\n")

    def line(self, text: str = "") -> None:
        """Write one line of text."""
        self.write(text + "\n")

    def facts(self, pairs: Iterable[tuple[str, Any]]) -> None:
        """Write names and values in two columns; absent values are left out."""
        present = [(name, str(value)) for name, value in pairs if value not in (None, "", [])]
        width = max((len(name) for name, _ in present), default=0)
        for name, value in present:
            self.line(f"{name:<{width}}  {value}")

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "") -> None:
        """Write a table: drawn for a person, in aligned columns for a program."""
        if self.live:
            self.console().print(drawn_table(columns, rows, title))
        else:
            self._plain_table(columns, rows, title)

    def _plain_table(
        self, columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str
    ) -> None:
        if title:
            self.line(title)
        cells = [[_cell(value) for value in row] for row in [columns, *rows]]
        widths = [max(len(row[index]) for row in cells) for index in range(len(columns))]
        for row in cells:
            padded = (f"{text:<{width}}" for text, width in zip(row, widths, strict=True))
            self.line("  ".join(padded).rstrip())

    def console(self) -> Console:
        """A rich console on stdout."""
        from rich.console import Console

        return Console(file=self.out, highlight=False)

    def complain(self, text: str) -> None:
        """Write text to stderr as it is, as far as that can be written."""
        if self._err is not None:
            with suppress(OSError):
                self._err.write(text)
                self._err.flush()

    def error(self, error: CoordinatorError, kind: str, details: Sequence[Any] = ()) -> None:
        """Say why a command was not done: code, place, remedy, and more findings if there are."""
        if self.format is Format.JSON:
            said = {"status": kind, "code": error.code, "message": error.message}
            said |= {"place": error.place, "remedy": error.remedy}
            try:
                self.object(said | ({"findings": list(details)} if details else {}))
            except OutputGone:
                lose_output()
            except Unavailable:
                pass
            else:
                return
        text = told(error)
        for finding in details[1:]:
            place = f"{finding['pointer']}" + (
                f" (line {finding['line']})" if finding["line"] else ""
            )
            text += f"error[{finding['code']}]: {place}: {finding['message']}\n"
            text += f"  remedy: {finding['remedy']}\n"
        self.complain(text)


def lose_output() -> int:
    """Have what stdout still holds go nowhere, and give the exit code `GONE`.

    Python would try to write it once more at its end.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return GONE


def _unwritable() -> Unavailable:
    return Unavailable(
        "output.unwritable",
        "the output can not be written",
        place="stdout",
        remedy="make room where it goes; what was asked for may have been done",
    )


def _cell(value: Any) -> str:
    return "-" if value in (None, "") else str(value)


_COLOURS = {
    "accepted": "green",
    "succeeded": "green",
    "finished": "green",
    "completed": "green",
    "started": "green",
    "running": "cyan",
    "waiting": "yellow",
    "pending": "yellow",
    "attention": "bold red",
    "unknown": "bold red",
    "failed": "red",
    "cancelled": "magenta",
    "not-applied": "magenta",
}


def drawn_table(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str = ""
) -> RenderableType:
    """A rich table in which states have their colours."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        texts = (_cell(value) for value in row)
        table.add_row(*(Text(text, style=_COLOURS.get(text, "")) for text in texts))
    return table
