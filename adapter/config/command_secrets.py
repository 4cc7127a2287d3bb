"""The provider ``command``: a secret is what a program writes, such as a vault's own client."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from activities.credentials import Secret
from adapter.errors import Unavailable
from interpreter.contract.values import JsonValue

DEFAULT_SECONDS = 5.0
LONGEST_SECONDS = 30.0
_LARGEST_BYTES = 65_536
_NAME = "{name}"


@dataclass(frozen=True, slots=True)
class CommandSecrets:
    """Runs ``arguments``, ``{name}`` replaced, and takes what they write to standard output.

    There is no shell, no input and no way for the name to become an option: it begins with a
    letter or digit. What the program says to standard error is not kept.
    """

    arguments: tuple[str, ...]
    seconds: float

    def read(self, name: str) -> bytes | None:
        """The output; TimeoutError after ``seconds``, OSError or ValueError if it fails."""
        command = [argument.replace(_NAME, name) for argument in self.arguments]
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            close_fds=True,
        ) as process:
            late = threading.Event()

            def stop() -> None:
                late.set()
                process.kill()

            alarm = threading.Timer(self.seconds, stop)
            alarm.start()
            try:
                assert process.stdout is not None
                data = process.stdout.read(_LARGEST_BYTES + 1)
                if len(data) > _LARGEST_BYTES:
                    process.kill()
                    raise ValueError("the secret is too large")
                code = process.wait()
            finally:
                alarm.cancel()
        if late.is_set():
            raise TimeoutError
        if code != 0:
            raise ValueError("the program failed")
        return data


def open_command(
    settings: Mapping[str, JsonValue], _read: Callable[[str], Secret]
) -> CommandSecrets:
    """The provider for ``{command: [PROGRAM, …], timeoutSeconds}``.

    Raises Unavailable ``secret.provider-settings`` unless the program is an absolute path and some
    argument holds ``{name}``.
    """
    command, seconds = settings.get("command"), settings.get("timeoutSeconds", DEFAULT_SECONDS)
    sound = (
        set(settings) <= {"command", "timeoutSeconds"}
        and isinstance(command, list)
        and all(isinstance(argument, str) for argument in command)
        and command
        and command[0].startswith("/")
        and any(_NAME in argument for argument in command[1:])
        and isinstance(seconds, int | float)
        and 0 < seconds <= LONGEST_SECONDS
    )
    if not sound or not isinstance(command, list):
        raise Unavailable(
            "secret.provider-settings",
            "the provider `command` can not be used as it is set up",
            place="secrets.providers",
            remedy="give `command`: an absolute path, and arguments of which one holds {name}",
        )
    return CommandSecrets(tuple(command), float(seconds))
