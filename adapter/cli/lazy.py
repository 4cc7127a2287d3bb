"""Commands that are imported only when they are asked for, so that help comes at once."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from adapter.cli.entries import Entry
from adapter.cli.terminal import Terminal
from adapter.errors import Usage


class _Helped(TyperCommand):
    """A command whose help is written as any other output: the parser's own way ends otherwise."""

    def get_help_option(self, ctx: Any) -> Any:
        """The option that shows this command's help and ends."""
        return _shown_by_us(super().get_help_option(ctx))


class LazyGroup(TyperGroup):
    """A group that lists commands from a table and loads the one that is called."""

    def __init__(self, name: str, help: str, entries: Mapping[str, Entry]) -> None:
        stubs = {
            command: TyperCommand(command, help=entry.help, rich_markup_mode=None)
            for command, entry in entries.items()
        }
        super().__init__(
            name=name,
            help=help,
            commands=dict(stubs),
            no_args_is_help=False,
            rich_markup_mode=None,
            subcommand_metavar="COMMAND [OPTIONS]",
        )
        self._entries = entries

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The real command, imported now."""
        name, stub, rest = super().resolve_command(ctx, args)
        if stub is not None and not self._entries[str(name)].passes_arguments_on:
            _refuse_empty(f"{self.name} {name}", rest)
        return name, None if stub is None else self._load(str(name)), rest

    def get_help_option(self, ctx: Any) -> Any:
        """The option that shows this group's help and ends."""
        return _shown_by_us(super().get_help_option(ctx))

    def _load(self, name: str) -> Any:
        entry = self._entries[name]
        if entry.commands:
            return LazyGroup(name, entry.help, entry.commands)
        function = getattr(importlib.import_module(entry.module), entry.function)
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        settings = (
            {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
            if entry.passes_arguments_on
            else {}
        )
        app.command(name, cls=_Helped, help=entry.help, context_settings=settings)(function)
        return typer.main.get_command(app)


def _shown_by_us(option: Any) -> Any:
    if option is not None:
        option.callback = _show_help
    return option


def _show_help(context: Any, _option: Any, asked: bool) -> None:
    if asked:
        Terminal().write(context.get_help() + "\n")
        context.exit()


def _refuse_empty(command: str, arguments: Sequence[str]) -> None:
    """Usage ``usage.invalid-value`` for an empty value, which a shell makes of an unset variable.

    It must not count as an option left out: a start without a key is always a new run.
    """
    for before, argument in zip(("", *arguments), arguments, strict=False):
        name, sign, value = argument.partition("=")
        inline = name.startswith("--") and sign and not value
        if argument and not inline:
            continue
        place = name if inline else before if before.startswith("--") else command
        raise Usage(
            "usage.invalid-value",
            "the value is empty",
            place=place,
            remedy="give a value, or leave it out",
        )
