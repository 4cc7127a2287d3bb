"""The coordinator's HTTP service as the commands use it: one request, one answer, no repeat."""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from adapter.config.files import read_named_file
from adapter.config.loading import load_runtime
from adapter.config.location import find_runtime, setting
from adapter.errors import AdapterError, Refused, Unavailable, Usage

_CONNECT_SECONDS, _ANSWER_SECONDS = 5.0, 30.0
_LARGEST_ANSWER_BYTES = 1_048_576
_LARGEST_KEY_BYTES = 4_096
DEVELOPMENT_KEY = "api-key"


@dataclass(frozen=True, slots=True)
class ServiceClient:
    """Asks the service at ``origin`` with an API key."""

    origin: str
    api_key: str

    @staticmethod
    def find(
        runtime: Path | None,
        url: str | None,
        key_file: Path | None,
        environment: Mapping[str, str] = os.environ,
    ) -> ServiceClient:
        """The service and key that the flags, the environment or the runtime file name.

        Raises Usage ``service.url-invalid`` or ``service.key-absent``, and what `find_runtime`
        and `load_runtime` raise.
        """
        origin = url or setting("URL", environment)
        named = key_file or _path(setting("API_KEY_FILE", environment))
        if origin is None or named is None:
            loaded = load_runtime(find_runtime(runtime, environment), environment)
            origin = origin or loaded.document.api.public_url
            secrets = loaded.document.secrets.file_root or "secrets"
            named = named or loaded.folder / secrets / DEVELOPMENT_KEY
        return ServiceClient(_checked_origin(origin), _read_key(named))

    def get(self, path: str, **query: Any) -> Any:
        """The JSON answer to a GET; absent query members are left out."""
        present = {name: value for name, value in query.items() if value is not None}
        return self._ask("GET", path + (f"?{urlencode(present)}" if present else ""))

    def post(self, path: str, body: Any, headers: Mapping[str, str] | None = None) -> Any:
        """The JSON answer to a POST."""
        sent = {"Content-Type": "application/json", **(headers or {})}
        return self._ask("POST", path, json.dumps(body).encode(), sent)

    def _ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        status, data = exchange(
            self.origin, method, path, body, {"X-API-Key": self.api_key, **(headers or {})}
        )
        value = _json(data)
        if 200 <= status < 300 and value is not None:
            return value
        raise problem_error(status, value)


def exchange(
    origin: str,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> tuple[int, bytes]:
    """One HTTP exchange; Unavailable ``service.unavailable`` when there is no whole answer."""
    parts = urlsplit(origin)
    https = parts.scheme == "https"
    kind = http.client.HTTPSConnection if https else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_CONNECT_SECONDS)
    try:
        connection.connect()
        if connection.sock is not None:
            connection.sock.settimeout(_ANSWER_SECONDS)
        connection.request(method, parts.path.rstrip("/") + path, body, dict(headers or {}))
        answer = connection.getresponse()
        data = answer.read(_LARGEST_ANSWER_BYTES + 1)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unavailable(
            "service.unavailable",
            "the service does not answer",
            place=f"{parts.scheme}://{parts.netloc}",
            remedy="check that it runs; repeat a start with the same key, never with a fresh one",
        ) from error
    finally:
        connection.close()
    if len(data) > _LARGEST_ANSWER_BYTES:
        raise Unavailable("service.answer-too-large", "the service's answer is too large")
    return answer.status, data


def problem_error(status: int, value: Any) -> AdapterError:
    """A problem document as the error that a command reports, with the service's own code."""
    problem = value if isinstance(value, dict) else {}
    code = str(problem.get("code") or "service.answer-unusable")
    message = str(problem.get("detail") or f"the service answered {status} without a problem")
    place, remedy = str(problem.get("place") or ""), str(problem.get("remedy") or "")
    if status >= 500 or not problem:
        return Unavailable(code, message, place=place, remedy=remedy or "try again later")
    return Refused(code, message, place=place, remedy=remedy, status=status)


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _checked_origin(origin: str) -> str:
    parts = urlsplit(origin)
    try:
        sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        sound = False
    if not sound or parts.query or parts.fragment or parts.username:
        raise Usage(
            "service.url-invalid",
            "this is not the address of a service",
            place="--url",
            remedy="write http://HOST:PORT or https://HOST",
        )
    return origin.rstrip("/")


def _read_key(path: Path) -> str:
    data = read_named_file(
        path, _LARGEST_KEY_BYTES, code="service.key-absent", what="API key's file"
    ).strip()
    if not data or len(data) > _LARGEST_KEY_BYTES or not data.isascii() or b"\n" in data:
        raise _no_key(path)
    key = data.decode("ascii")
    if not key.isprintable():
        raise _no_key(path)
    return key


def _no_key(path: Path) -> Usage:
    return Usage(
        "service.key-absent",
        "the file holds no API key",
        place=str(path),
        remedy="write the key on one line, or name its file with --api-key-file",
    )
