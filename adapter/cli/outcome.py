"""From what a command raised to one clear error and an exit code; never a traceback."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Sequence
from typing import Any

import typer

from adapter.cli.terminal import Format, OutputGone, Terminal, lose_output
from adapter.errors import Unavailable, Usage, exit_code_of
from interpreter.errors import CoordinatorError

INTERRUPTED = 130
_BOUND = re.compile(r"(?:greater|less) than (?:or equal to )?-?[0-9.]+")
_KINDS = {1: "refused", 2: "usage-error", 3: "unavailable"}


def wanted_format(arguments: Sequence[str]) -> Format:
    """The format that the arguments ask for, told before they are parsed: errors need it too."""
    for index, argument in enumerate(arguments):
        following = arguments[index + 1] if index + 1 < len(arguments) else ""
        if argument == "--format=json" or (argument == "--format" and following == "json"):
            return Format.JSON
    return Format.TEXT


def run(command: Any, program: str, arguments: Sequence[str] | None = None) -> int:
    """Run a command line to its exit code: 0 done, 1 refused, 2 usage, 3 unavailable.

    Further `INTERRUPTED`, and `GONE` when whoever read the output has: what was asked for may
    have been done.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    terminal = Terminal(wanted_format(given))
    # What libraries warn of is no word to whoever gave a command; processes configure their logs.
    logging.lastResort = logging.NullHandler()
    try:
        code = command.main(given, prog_name=program, standalone_mode=False)
        return code if isinstance(code, int) else 0
    except typer.Exit as exit:
        return exit.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except OutputGone:
        return lose_output()
    except Exception as error:
        return report(terminal, error)


def report(terminal: Terminal, error: Exception) -> int:
    """Say what went wrong and give the exit code."""
    # Imported only now: a command that works needs none of it, and help has to come at once.
    from adapter.config.findings import ConfigurationError
    from adapter.config.location import setting

    if setting("TRACEBACK"):
        raise error
    known = _our_own(error)
    code = exit_code_of(known)
    details = [f.to_json() for f in known.findings] if isinstance(known, ConfigurationError) else []
    terminal.error(known, _KINDS[code], details)
    return code


def _our_own(error: Exception) -> CoordinatorError:
    if isinstance(error, CoordinatorError):
        return error
    if hasattr(error, "format_message"):
        return _usage(error)
    return Unavailable(
        "internal.unexpected",
        f"the command met a fault of its own ({type(error).__qualname__})",
        remedy="set COORDINATOR_TRACEBACK=1 to see where, and report it",
    )


def _usage(error: Any) -> Usage:
    """The parser's error in our words: it would repeat values, and those may be secrets."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "coordinatorctl"
    remedy = f"see `{command} --help`"
    # The parser's classes have no public home; their names do not change.
    match type(error).__name__:
        case "NoSuchOption":
            meant = sorted(error.possibilities or ())
            message = "there is no such option" + (f"; did you mean {meant[0]}?" if meant else "")
            name = error.option_name.partition("=")[0]
            return Usage("usage.unknown-option", message, place=name, remedy=remedy)
        case "MissingParameter":
            message = "a required value is missing"
            return Usage("usage.missing", message, place=_parameter(error), remedy=remedy)
        case "BadOptionUsage":
            message = "the option needs a value"
            return Usage("usage.missing", message, place=error.option_name, remedy=remedy)
        case "BadParameter":
            wanted = _wanted(error)
            return Usage("usage.invalid-value", wanted, place=_parameter(error), remedy=remedy)
        case _:
            return Usage("usage.invalid", _plain(error), place=command, remedy=remedy)


def _wanted(error: Any) -> str:
    text = str(error.message)
    if "is not one of" in text:
        return "the value is none of " + text.partition("is not one of ")[2].rstrip(".")
    if "integer" in text:
        return "a whole number is wanted"
    if bound := _BOUND.search(text):
        return f"a number {bound[0]} is wanted"
    if "number" in text:
        return "a number is wanted"
    return "the value can not be used"


def _parameter(error: Any) -> str:
    parameter = getattr(error, "param", None)
    if parameter is None:
        return getattr(error, "param_hint", None) or ""
    names = [name for name in parameter.opts if name.startswith("--")]
    return names[0] if names else str(parameter.name or "").upper()


def _plain(error: Any) -> str:
    text = str(getattr(error, "message", ""))
    if text.startswith("No such command"):
        meant = text.partition("Did you mean ")[2].rstrip("?")
        return "there is no such command" + (f"; did you mean {meant}?" if meant else "")
    if text.startswith("Missing command"):
        return "no command is named"
    return "there are more arguments than the command takes"
