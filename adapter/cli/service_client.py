"""The coordinator's HTTP service as the commands use it: one request, one answer, no repeat."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from adapter.cli.credentials import (
    DEVELOPMENT_PROFILE,
    Credential,
    credential_in,
    credential_of,
)
from adapter.cli.exchange import Answer, ask_once
from adapter.config.document import is_loopback
from adapter.config.json_text import strict_json
from adapter.config.loading import Runtime, load_runtime
from adapter.config.location import find_runtime, setting
from adapter.errors import AdapterError, Refused, Unavailable, Usage

DEVELOPMENT_KEY = "api-key"
_MARK = "coordinator-api"
_FLAGS = {
    "/before": "--before",
    "/reason": "--reason",
    "/recoveryReference": "--recovery-reference",
    "/id": "--id",
    "/type": "--type",
    "cursor": "--cursor",
    "effect": "--effect",
    "query/cursor": "--cursor",
    "query/workflow": "--workflow",
    "path/workflow": "WORKFLOW",
    "path/trigger": "TRIGGER",
    "path/name": "--name",
    "runId": "RUN",
}
"""By its place in a request, what of the command line has been put there."""
_BETWEEN = frozenset({502, 503, 504})
"""What proxies answer when the service behind them does not."""


@dataclass(frozen=True, slots=True)
class ServiceClient:
    """Asks the service at ``origin``; ``credential`` says in each request who calls."""

    origin: str
    credential: Credential = field(repr=False)

    @staticmethod
    def find(
        runtime: Path | None,
        url: str | None,
        named: Path | None,
        environment: Mapping[str, str] = os.environ,
    ) -> ServiceClient:
        """The service and credential that the flags, the environment or the runtime file name.

        Raises Usage ``service.url-invalid`` or ``credential.absent``, and what `credential_of`,
        `find_runtime` and `load_runtime` raise.
        """
        credential, profile_url = credential_of(named, environment) or (None, None)
        origin = url or setting("URL", environment) or profile_url
        if origin is None or credential is None:
            loaded = load_runtime(find_runtime(runtime, environment), environment)
            origin = origin or loaded.document.api.public_url
            credential = credential or _beside(loaded, origin, environment)
        return ServiceClient(_checked_origin(origin), credential)

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
        said = self.credential.headers()
        answer = ask_once(self.origin, method, path, body, {**said, **(headers or {})})
        return _json_of(self.origin, answer)


def find_origin(
    runtime: Path | None, url: str | None, environment: Mapping[str, str] = os.environ
) -> str:
    """The address of the service alone, for what needs no credential."""
    origin = url or setting("URL", environment)
    if origin is None:
        loaded = load_runtime(find_runtime(runtime, environment), environment)
        origin = loaded.document.api.public_url
    return _checked_origin(origin)


def service_document(origin: str) -> Any:
    """The OpenAPI document of the service at an address, which needs no credential."""
    return _json_of(origin, ask_once(origin, "GET", "/openapi.json"))


def _json_of(origin: str, answer: Answer) -> Any:
    """The JSON of an answer of the service.

    Raises the problem that it answered, Usage ``service.not-coordinator`` for an answer of
    something else, and Unavailable ``service.unavailable`` for one of a proxy.
    """
    if _MARK not in answer.headers:
        if answer.status in _BETWEEN:
            raise Unavailable(
                "service.unavailable",
                "something before the service answers in its place",
                place=origin,
                remedy="try again later; repeat a start with the same key",
            )
        raise Usage(
            "service.not-coordinator",
            "what answers at this address is no coordinator",
            place=origin,
            remedy="correct --url, COORDINATOR_URL, the profile's url or api.publicUrl",
        )
    value = _json(answer.body)
    if 200 <= answer.status < 300 and value is not None:
        return value
    raise problem_error(origin, answer.status, value)


def ask_open(
    origin: str,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Any:
    """The JSON that a server without callers answers, None when it is no JSON.

    Raises the problem that it answered, and what `ask_once` raises.
    """
    kind = {"Content-Type": "application/json"}
    answer = ask_once(origin, method, path, body, {**kind, **(headers or {})})
    value = _json(answer.body)
    if 200 <= answer.status < 300:
        return value
    raise problem_error(origin, answer.status, value)


def problem_error(origin: str, status: int, value: Any) -> AdapterError:
    """A problem document as the error that a command reports, with the service's own code.

    What the command line has put into the request is named by its flag, and is Usage when it
    does not have the form that the service asks for. An answer that is no problem is placed at
    ``origin``, where it came from.
    """
    problem = value if isinstance(value, dict) and value else {"place": origin}
    code = str(problem.get("code") or "service.answer-unusable")
    message = str(problem.get("detail") or f"the service answered {status} without a problem")
    place, remedy = str(problem.get("place") or ""), str(problem.get("remedy") or "")
    if status >= 500 or "code" not in problem:
        return Unavailable(code, message, place=place, remedy=remedy or "try again later")
    if flag := _FLAGS.get(place):
        place = flag
        if code == "request.invalid":
            message, remedy = "the service takes no value of this form", "see the command's --help"
        if status == 400:
            return Usage(code, message, place=place, remedy=remedy)
    return Refused(code, message, place=place, remedy=remedy, status=status)


def _checked_origin(origin: str) -> str:
    """The address of a service, where a credential may be sent; Usage ``service.url-invalid``."""
    try:
        parts = urlsplit(origin)
        sound = bool(parts.hostname) and parts.port != 0 and parts.username is None
    except ValueError:
        sound = False
    local = sound and (parts.hostname == "localhost" or is_loopback(origin))
    if not sound or parts.query or parts.fragment or parts.scheme not in ("http", "https"):
        message = "this is not the address of a service"
    elif parts.scheme == "http" and not local:
        message = "a credential goes over https, or over http on this machine alone"
    else:
        return origin.rstrip("/")
    raise Usage(
        "service.url-invalid",
        message,
        place="--url",
        remedy="write https://HOST, or http://127.0.0.1:PORT",
    )


def _beside(loaded: Runtime, origin: str, environment: Mapping[str, str]) -> Credential:
    """What `coordinatorctl dev` has left beside its runtime file, for its own service alone."""
    profile = loaded.folder / DEVELOPMENT_PROFILE
    key = loaded.folder / (loaded.document.secrets.file_root or "secrets") / DEVELOPMENT_KEY
    if origin.rstrip("/") == loaded.document.api.public_url:
        for path in (profile, key):
            if path.is_file():
                return credential_in(path, environment)
    raise Usage(
        "credential.absent",
        "nothing says who calls this service",
        place="--credential",
        remedy="set COORDINATOR_TOKEN or COORDINATOR_API_KEY, or name a file or a profile",
    )


def _json(data: bytes) -> Any:
    try:
        return strict_json(data)
    except ValueError:
        return None
