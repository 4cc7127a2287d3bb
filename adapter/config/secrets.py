"""Secrets by reference: looked up at the moment of use, with the custody of a file checked."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from activities.credentials import Secret
from adapter.config.secret_providers import OpenProviders, ProviderUse
from adapter.errors import Unavailable

_LARGEST_SECRET_BYTES = 65_536
_MOST_ASKING = 8
_OWN = ("secret:file/", "secret:env/")
_ALLOWED_MODES = frozenset({0o400, 0o600})


class SecretStore:
    """Gives the secret behind a reference to a file, a variable or a provider; keeps none.

    A file must be regular, owned by this process's account, of mode 0400 or 0600 and with one
    hard link, so that no other account can have read or planted it. A trailing newline is not
    part of the secret.
    """

    def __init__(
        self,
        root: Path | None,
        environment: Mapping[str, str],
        providers: Mapping[str, ProviderUse] | None = None,
    ) -> None:
        self._root = root
        self._environment = environment
        self._providers = OpenProviders(providers or {}, self._own)
        self._asking: ThreadPoolExecutor | None = None

    def read(self, reference: str) -> bytes:
        """The secret's bytes.

        Raises Unavailable ``secret.absent``, ``secret.exposed`` (mode, owner or links),
        ``secret.unusable`` (empty, too large, unreadable), or what a provider does
        (``secret.unavailable``, ``secret.provider-absent``, ``secret.provider-settings``).
        """
        provider, _, name = reference.removeprefix("secret:").partition("/")
        if provider == "env":
            data = self._from_environment(name)
        elif provider == "file":
            data = self._from_file(name)
        else:
            data = self._providers.secret(provider, name).rstrip(b"\r\n")
        if not data:
            raise Unavailable(
                "secret.unusable",
                "the secret is empty",
                place=reference,
                remedy="write the secret there",
            )
        return data

    def secret(self, reference: str) -> Secret:
        """The secret as UTF-8 text that shows itself to nobody; the same errors as ``read``."""
        try:
            return Secret(self.read(reference).decode())
        except UnicodeDecodeError as error:
            raise Unavailable(
                "secret.unusable",
                "the secret is not UTF-8 text",
                place=reference,
                remedy="write it as text",
            ) from error

    async def fetch(self, reference: str) -> Secret:
        """As ``secret``, without holding up others while a provider is asked."""
        if reference.startswith(_OWN):
            return self.secret(reference)
        if self._asking is None:
            # Threads of their own: a vault that hangs must not keep others from resolving names.
            self._asking = ThreadPoolExecutor(_MOST_ASKING, thread_name_prefix="secret-provider")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._asking, self.secret, reference)

    def _own(self, reference: str) -> Secret:
        """What a provider may read for itself; Unavailable ``secret.absent`` beyond that."""
        if not reference.startswith(_OWN):
            raise Unavailable(
                "secret.absent",
                "what a provider needs itself is in a file or a variable",
                place=reference,
                remedy="write secret:file/NAME or secret:env/NAME",
            )
        return self.secret(reference)

    def _from_environment(self, name: str) -> bytes:
        value = self._environment.get(name)
        if value is None:
            raise Unavailable(
                "secret.absent",
                "the variable is not set",
                place=f"secret:env/{name}",
                remedy="set it for this process",
            )
        return value.encode().rstrip(b"\r\n")

    def _from_file(self, name: str) -> bytes:
        reference = f"secret:file/{name}"
        if self._root is None:
            raise Unavailable(
                "secret.absent",
                "no folder of secret files is configured",
                place=reference,
                remedy="set secrets.fileRoot",
            )
        try:
            # Checked and read through one descriptor, so that the file can not change between.
            descriptor = os.open(self._root / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise Unavailable(
                "secret.absent",
                "the secret file can not be opened",
                place=reference,
                remedy="make it a plain file of mode 0600 in the folder secrets.fileRoot",
            ) from error
        with os.fdopen(descriptor, "rb") as file:
            _check_custody(os.fstat(file.fileno()), reference)
            data = file.read(_LARGEST_SECRET_BYTES + 1)
        if len(data) > _LARGEST_SECRET_BYTES:
            raise Unavailable(
                "secret.unusable",
                f"the secret has more than {_LARGEST_SECRET_BYTES} bytes",
                place=reference,
                remedy="name the right file",
            )
        return data.rstrip(b"\r\n")


def _check_custody(facts: os.stat_result, reference: str) -> None:
    sound = (
        stat.S_ISREG(facts.st_mode)
        and stat.S_IMODE(facts.st_mode) in _ALLOWED_MODES
        and facts.st_uid == os.geteuid()
        and facts.st_nlink == 1
    )
    if not sound:
        raise Unavailable(
            "secret.exposed",
            "others may read or replace the secret file",
            place=reference,
            remedy=f"give it mode 0600, account {os.geteuid()} as owner, as which this runs, and a"
            " single link",
        )
