"""One PostgreSQL server of this machine: made, started, reached and stopped."""

from __future__ import annotations

import asyncio
import os
import pwd
import secrets
import shutil
import signal
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from adapter.embedded.errors import EmbeddedError
from adapter.embedded.ports import LOOPBACK, free_port, require_port
from adapter.embedded.process import ChildProcess, User
from adapter.embedded.programs import postgres_programs
from adapter.embedded.server import EmbeddedServer

__all__ = ["OWNER_ROLE", "SERVICE_ROLE", "EmbeddedPostgres", "LedgerAddresses"]

_ADMINISTRATOR = "coordinator"
OWNER_ROLE = "coordinator_owner"
SERVICE_ROLE = "coordinator_service"
_POLL_SECONDS = 0.05
_ENSURE_DATABASE = (
    "select format('create database %I', :'name')"
    " where not exists (select from pg_database where datname = :'name') \\gexec\n"
)
# Passwords come through the environment: arguments of a program can be seen by others.
_ENSURE_LEDGER = f"""
\\getenv owner_password OWNER_PASSWORD
\\getenv service_password SERVICE_PASSWORD
select format('create role %I login', r) from unnest(array['{OWNER_ROLE}', '{SERVICE_ROLE}']) as r
 where not exists (select from pg_roles where rolname = r) \\gexec
alter role {OWNER_ROLE} password :'owner_password';
alter role {SERVICE_ROLE} password :'service_password';
select format('create database %I owner {OWNER_ROLE}', :'name')
 where not exists (select from pg_database where datname = :'name') \\gexec
"""


@dataclass(frozen=True, slots=True, repr=False)
class LedgerAddresses:
    """One database as two roles reach it, passwords included: never log them.

    ``service`` may work on what `coordinatorctl apply` grants it, ``owner`` owns database and
    schema.
    """

    service: str
    owner: str


class EmbeddedPostgres(EmbeddedServer):
    """A PostgreSQL server on 127.0.0.1 whose cluster, password and log live in one folder.

    The cluster is made when the folder is empty and survives restarts, on another port if need
    be. It listens on TCP only and wants the generated password (scram). PostgreSQL refuses to
    run as root: a root process runs it as the owner of the cluster, `nobody` at first.

    `durable=False` gives up safety after a power cut for speed: for tests only. The folder must
    then be a throwaway one. Stopping it ends open sessions.
    """

    name = "PostgreSQL"

    def __init__(
        self,
        data_directory: Path,
        port: int | None = None,
        *,
        durable: bool = True,
        max_connections: int = 200,
        settings: Sequence[str] = (),
    ) -> None:
        self.data_directory = data_directory.absolute()
        self.durable = durable
        self._wanted_port = port
        self._port: int | None = None
        self._password: str | None = None
        self._settings = [f"max_connections={max_connections}", *settings]

    @property
    def port(self) -> int:
        """The port it listens on; known once it is started."""
        if self._port is None:
            raise RuntimeError("PostgreSQL was not started")
        return self._port

    @property
    def log_file(self) -> Path:
        """The server's own log."""
        return self.data_directory / "postgres.log"

    def url(self, database: str = _ADMINISTRATOR) -> str:
        """Give the administrator's address of `database`, password included: never log it."""
        if self._password is None:
            raise RuntimeError("PostgreSQL was not started")
        return self._address(_ADMINISTRATOR, self._password, database)

    def _address(self, role: str, password: str, database: str) -> str:
        account = f"{role}:{quote(password, safe='')}"
        return f"postgresql://{account}@{LOOPBACK}:{self.port}/{quote(database, safe='')}"

    async def start(self) -> None:
        """Make the cluster if there is none, and return when the server takes connections.

        Raises `EmbeddedError`: `embedded.not-installed`, `embedded.port-taken`,
        `embedded.in-use`, `embedded.directory-unusable`, `embedded.did-not-start`,
        `embedded.command-failed`, `embedded.no-account`.
        """
        await self._forget_earlier()
        programs = postgres_programs()
        wanted = self._wanted_port
        port = free_port() if wanted is None else require_port(wanted, self.name)
        user = self._account(programs)
        if not self._cluster.exists():
            await self._make_cluster(programs, user)
        self._password = self._password_file.read_text().strip()
        self._port = port
        server = ChildProcess(
            self.name,
            [programs / "postgres", "-D", self._cluster, *self._options(port)],
            log_file=self.log_file,
            environment=_environment(),
            directory=self.data_directory,
            # Fast shutdown: open sessions are ended, the data is left in order.
            stop_signal=signal.SIGINT,
            lock_file=self.data_directory / "lock",
            stale_file=self._cluster / "postmaster.pid",
            user=user,
        )
        await self._run(server, self._is_ready, _POLL_SECONDS)

    async def ensure_database(self, database: str) -> str:
        """Create `database` if it is missing and give the administrator's address of it."""
        await self._psql(database, _ENSURE_DATABASE, {})
        return self.url(database)

    async def ensure_ledger(self, database: str) -> LedgerAddresses:
        """Create `database` and the two roles of a ledger if they are missing.

        The roles have passwords of their own, which lie beside the administrator's.
        """
        owner, service = (
            self._generated(self.data_directory / f"password-{kind}")
            for kind in ("owner", "service")
        )
        passwords = {"OWNER_PASSWORD": owner, "SERVICE_PASSWORD": service}
        await self._psql(database, _ENSURE_LEDGER, passwords)
        return LedgerAddresses(
            self._address(SERVICE_ROLE, service, database),
            self._address(OWNER_ROLE, owner, database),
        )

    async def _psql(self, database: str, script: str, passwords: dict[str, str]) -> None:
        """Run a script as the administrator; the variable `name` is the database's name."""
        environment = _environment() | passwords | {"PGPASSWORD": self._password or ""}
        arguments = ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-v", f"name={database}"]
        at = f"host={LOOPBACK} port={self.port} user={_ADMINISTRATOR} dbname=postgres"
        psql = await asyncio.create_subprocess_exec(
            postgres_programs() / "psql",
            *(*arguments, "-d", at),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment,
        )
        await psql.communicate(script.encode())
        if psql.returncode != 0:
            raise self._command_failed(f"database {database!r} could not be created")

    @property
    def _cluster(self) -> Path:
        return self.data_directory / "cluster"

    @property
    def _password_file(self) -> Path:
        return self.data_directory / "password"

    def _options(self, port: int) -> list[str]:
        settings = [
            f"listen_addresses={LOOPBACK}",
            f"port={port}",
            # No socket file: its path may be too long, and one way in is enough.
            "unix_socket_directories=",
            "timezone=UTC",
            "log_timezone=UTC",
            *self._settings,
        ]
        if not self.durable:
            settings += ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]
        return [part for setting in settings for part in ("-c", setting)]

    def _account(self, programs: Path) -> User | None:
        """Make the folder; give the account to run as when this process is root."""
        try:
            self.data_directory.mkdir(parents=True, exist_ok=True)
            if os.geteuid() == 0:
                return _server_account(self._cluster, programs)
            if self._cluster.exists() and os.stat(self._cluster).st_uid != os.geteuid():
                raise PermissionError(0, "owned by another account", str(self._cluster))
        except OSError as error:
            raise self._unusable(error) from error
        return None

    async def _make_cluster(self, programs: Path, user: User | None) -> None:
        # Made beside its final place and moved there when whole: a crash leaves no half cluster.
        draft = self.data_directory / "cluster.new"
        try:
            self._prepare_draft(draft, user)
        except OSError as error:
            raise self._unusable(error) from error
        arguments: list[str | Path] = ["-D", draft, "--pwfile", self._password_file]
        arguments += ["-U", _ADMINISTRATOR, "--auth=scram-sha-256", "--encoding=UTF8"]
        # The builtin locale needs nothing of the operating system and sorts alike everywhere.
        arguments += ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        # Syncing once at the end of a fresh cluster protects nothing that is worth the wait.
        initdb = ChildProcess(
            "initdb",
            [programs / "initdb", "--no-instructions", "--no-sync", *arguments],
            log_file=self.log_file,
            environment=_environment(),
            directory=self.data_directory,
            lock_file=self.data_directory / "lock",
            user=user,
        )
        await initdb.start()
        if await initdb.wait() != 0:
            raise self._command_failed(f"no PostgreSQL cluster could be made in {draft}")
        draft.rename(self._cluster)

    def _prepare_draft(self, draft: Path, user: User | None) -> None:
        if draft.exists():
            shutil.rmtree(draft)
        draft.mkdir(mode=0o700)
        self._password_file.unlink(missing_ok=True)
        self._generated(self._password_file)
        if user is not None:
            os.chown(draft, user.uid, user.gid)
            os.chown(self._password_file, user.uid, user.gid)

    def _generated(self, file: Path) -> str:
        """The password in a file, made up when there is none."""
        if not file.exists():
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as opened:
                opened.write(f"{secrets.token_urlsafe(24)}\n")
        return file.read_text().strip()

    async def _is_ready(self) -> bool:
        """Read the postmaster's own report: line 1 its process, line 8 its state."""
        try:
            lines = (self._cluster / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        own = len(lines) >= 8 and lines[0] == str(self.process.pid)
        return own and lines[7].strip() == "ready"

    def _unusable(self, error: OSError) -> EmbeddedError:
        return EmbeddedError(
            "embedded.directory-unusable",
            "PostgreSQL can not use this",
            "check who owns it, or choose another folder",
            place=error.filename or self.data_directory,
        )

    def _command_failed(self, message: str) -> EmbeddedError:
        return EmbeddedError(
            "embedded.command-failed", message, "see this log of PostgreSQL", place=self.log_file
        )


def _environment() -> dict[str, str]:
    """Drop what would steer PostgreSQL's programs from outside."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")}


def _server_account(cluster: Path, programs: Path) -> User:
    """Choose the account a root process runs the server as: the cluster's owner, or nobody."""
    owner = os.stat(cluster).st_uid if cluster.exists() else 0
    try:
        account = pwd.getpwuid(owner) if owner != 0 else pwd.getpwnam("nobody")
    except KeyError as error:
        raise EmbeddedError(
            "embedded.no-account",
            "PostgreSQL does not run as root, and there is no such account for it",
            "create that account, or run this as an ordinary user",
            place=owner or "nobody",
        ) from error
    uid, gid = account.pw_uid, account.pw_gid
    places = (cluster.parent, programs / "postgres")
    return User(uid, gid, keep_reach=not all(_reaches(uid, gid, place) for place in places))


def _reaches(uid: int, gid: int, path: Path) -> bool:
    """Say whether the account may enter `path`, or run it, and walk down to it."""
    whole = path.resolve()
    for place in (whole, *whole.parents):
        facts = os.stat(place)
        bit = stat.S_IXOTH
        if facts.st_uid == uid:
            bit = stat.S_IXUSR
        elif facts.st_gid == gid:
            bit = stat.S_IXGRP
        if not facts.st_mode & bit:
            return False
    return True
