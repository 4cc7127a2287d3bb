"""Ways to secrets that are kept elsewhere: the interface, and how a provider is found and opened.

A provider is named, never written as a path to code: only what an installed package declares in
the entry point group can be used, so a runtime file can not make a process import something else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Protocol

from activities.credentials import Secret
from adapter.config.command_secrets import open_command
from adapter.errors import Unavailable
from interpreter.contract.values import JsonValue

ENTRY_POINTS = "coordinator_temporal.secret_providers"

ReadReference = Callable[[str], Secret]
"""Reads a ``secret:file/…`` or ``secret:env/…`` reference that a provider's settings hold."""


class SecretProvider(Protocol):
    """Gives secrets by name, as they are now.

    It is called from several threads, at every use of a secret, and bounds its own time. Whatever
    it raises is reported as ``secret.unavailable`` without its text.
    """

    def read(self, name: str) -> bytes | None:
        """The secret behind ``secret:PROVIDER/name``, None where there is none."""
        ...


OpenProvider = Callable[[Mapping[str, JsonValue], ReadReference], SecretProvider]
"""What an entry point leads to: opens a provider for the ``settings`` of a runtime file."""

_SHIPPED: dict[str, OpenProvider] = {"command": open_command}


@dataclass(frozen=True, slots=True)
class ProviderUse:
    """Which provider a deployment uses, and what it tells it."""

    use: str
    settings: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)


class OpenProviders:
    """The providers of a deployment, each opened at its first use."""

    def __init__(self, uses: Mapping[str, ProviderUse], read: ReadReference) -> None:
        self._uses = uses
        self._read = read
        self._open: dict[str, SecretProvider] = {}
        self._opening = threading.Lock()

    def secret(self, provider: str, name: str) -> bytes:
        """The bytes behind ``secret:provider/name``.

        Raises Unavailable ``secret.provider-absent``, ``secret.absent`` or ``secret.unavailable``.
        """
        place = f"secret:{provider}/{name}"
        opened = self._provider(provider, place)
        try:
            data = opened.read(name)
        # A provider's own words may hold a secret, or where it is kept: none of them is repeated.
        except Exception:
            raise _unavailable(place) from None
        if data is None:
            raise Unavailable(
                "secret.absent",
                "the provider has no such secret",
                place=place,
                remedy="keep the secret there, or correct the reference",
            )
        return data

    def _provider(self, provider: str, place: str) -> SecretProvider:
        with self._opening:
            if provider not in self._open:
                use = self._uses.get(provider)
                opener = None if use is None else _opener(use.use)
                if use is None or opener is None:
                    raise _absent(place)
                try:
                    self._open[provider] = opener(use.settings, self._read)
                except Unavailable:
                    raise
                except Exception:
                    raise _unavailable(place) from None
            return self._open[provider]


def _opener(name: str) -> OpenProvider | None:
    shipped = _SHIPPED.get(name)
    if shipped is not None:
        return shipped
    for found in entry_points(group=ENTRY_POINTS, name=name):
        opener: OpenProvider = found.load()
        return opener
    return None


def _absent(place: str) -> Unavailable:
    return Unavailable(
        "secret.provider-absent",
        "no such provider of secrets is installed",
        place=place,
        remedy="install the package that has it, or correct secrets.providers in runtime.yaml",
    )


def _unavailable(place: str) -> Unavailable:
    return Unavailable(
        "secret.unavailable",
        "the provider does not give the secret",
        place=place,
        remedy="see that the provider is up, and that its settings in runtime.yaml are right",
    )
