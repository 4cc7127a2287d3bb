"""One Temporal server of this machine: the real server and UI, started, reached and stopped."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from temporalio.client import Client
from temporalio.service import RPCError

from adapter.embedded.errors import EmbeddedError
from adapter.embedded.ports import LOOPBACK, free_port, require_port
from adapter.embedded.process import ChildProcess
from adapter.embedded.programs import temporal_program
from adapter.embedded.server import EmbeddedServer

__all__ = ["FAST_TIMERS", "EmbeddedTemporal"]

# The server fires timers up to a second late unless it is told not to gather them.
FAST_TIMERS: Mapping[str, str] = {"history.timerProcessorMaxTimeShift": '"10ms"'}

_POLL_SECONDS = 0.1
# Twice as fast as the defaults and still safe against the death of the process.
_PRAGMAS = ("journal_mode=wal", "synchronous=normal")


class EmbeddedTemporal(EmbeddedServer):
    """Temporal's development server on 127.0.0.1, its data in one SQLite file or in memory.

    `search_attributes` maps a name to Temporal's type word (`Keyword`, `Int`, …);
    `dynamic_config` maps a key to a JSON value; both are passed to the server as they are.
    `ui=False` starts it without the web UI; `ui_codec` is the codec server that its pages ask.
    """

    name = "Temporal"

    def __init__(
        self,
        database_file: Path | None,
        *,
        log_file: Path,
        port: int | None = None,
        ui_port: int | None = None,
        ui: bool = True,
        ui_codec: str = "",
        namespace: str = "default",
        search_attributes: Mapping[str, str] | None = None,
        dynamic_config: Mapping[str, str] | None = None,
        log_level: str = "warn",
        extra_arguments: Sequence[str] = (),
    ) -> None:
        self.database_file = None if database_file is None else database_file.absolute()
        self.log_file = log_file.absolute()
        self.namespace = namespace
        self._wanted = (port, ui_port)
        self._ui = ui
        self._ui_codec = ui_codec
        self._search_attributes = dict(search_attributes or {})
        self._dynamic_config = dict(dynamic_config or {})
        self._log_level = log_level
        self._extra_arguments = list(extra_arguments)
        self._ports: tuple[int, int] | None = None

    @property
    def address(self) -> str:
        """Give host and port for clients; known once it is started."""
        return f"{LOOPBACK}:{self._started_ports()[0]}"

    @property
    def ui_url(self) -> str:
        """Give the address of the web UI; raises when the server was made without it."""
        if not self._ui:
            raise RuntimeError("this Temporal server has no UI")
        return f"http://{LOOPBACK}:{self._started_ports()[1]}"

    def _started_ports(self) -> tuple[int, int]:
        if self._ports is None:
            raise RuntimeError("Temporal was not started")
        return self._ports

    async def start(self) -> None:
        """Start the server, and return when its namespace answers.

        Raises `EmbeddedError`: `embedded.not-installed`, `embedded.port-taken`,
        `embedded.in-use`, `embedded.directory-unusable`, `embedded.did-not-start`.
        """
        await self._forget_earlier()
        port, ui_port = self._wanted
        self._ports = (
            free_port() if port is None else require_port(port, self.name),
            free_port() if ui_port is None else require_port(ui_port, "Temporal's UI"),
        )
        self._prepare_folder()
        lock_file = None
        if self.database_file is not None:
            lock_file = self.database_file.with_name(f"{self.database_file.name}.lock")
        server = ChildProcess(
            self.name,
            [temporal_program(), "server", "start-dev", *self._arguments()],
            log_file=self.log_file,
            environment=_environment(),
            lock_file=lock_file,
        )
        await self._run(server, self._answers, _POLL_SECONDS)

    def _arguments(self) -> list[str]:
        port, ui_port = self._started_ports()
        arguments = ["--ip", LOOPBACK, "--port", str(port), "--namespace", self.namespace]
        arguments += ["--log-level", self._log_level, "--log-format", "json"]
        arguments += ["--ui-port", str(ui_port), "--ui-disable-news-fetch"]
        arguments += [] if self._ui else ["--headless"]
        arguments += ["--ui-codec-endpoint", self._ui_codec] if self._ui_codec else []
        if self.database_file is not None:
            arguments += ["--db-filename", os.fspath(self.database_file)]
            arguments += _repeated("--sqlite-pragma", _PRAGMAS)
        arguments += _repeated("--search-attribute", _pairs(self._search_attributes))
        arguments += _repeated("--dynamic-config-value", _pairs(self._dynamic_config))
        return arguments + self._extra_arguments

    def _prepare_folder(self) -> None:
        if self.database_file is None:
            return
        try:
            self.database_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise EmbeddedError(
                "embedded.directory-unusable",
                "Temporal can not use this",
                "check who owns it, or choose another folder",
                place=error.filename or self.database_file.parent,
            ) from error

    async def _answers(self) -> bool:
        """Say whether a workflow query in the namespace is answered, the last part to come up."""
        try:
            client = await Client.connect(self.address, namespace=self.namespace)
            await client.count_workflows()
        except (RPCError, RuntimeError):
            return False
        return True


def _pairs(values: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in values.items()]


def _repeated(flag: str, values: Sequence[str]) -> list[str]:
    return [part for value in values for part in (flag, value)]


def _environment() -> dict[str, str]:
    """Drop what would point Temporal's CLI at another server."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TEMPORAL_")}
