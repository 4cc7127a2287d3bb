"""The words that runtime.yaml is written in: names, texts, addresses and references of secrets."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, StringConstraints

from adapter.config.findings import RuleBroken
from interpreter.contract.values import Document

LocalId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=512)]
_REFERENCE = r"^secret:(env/[A-Z][A-Z0-9_]{0,127}|file/[a-z][a-z0-9._-]{0,127})$"
_ADDRESS = re.compile(r"^(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\s/]+):(?P<port>[0-9]{1,5})$")


def _secret_reference(value: str) -> str:
    if re.fullmatch(_REFERENCE, value) is None:
        raise RuleBroken(
            "a secret is given by reference only",
            "write secret:file/NAME or secret:env/NAME and keep the secret there",
            code="config.secret-reference",
        )
    return value


def _address(value: str) -> str:
    match = _ADDRESS.match(value)
    if match is None or not 0 <= int(match["port"]) <= 65_535:
        raise RuleBroken("host and port are wanted", "write HOST:PORT, for example 127.0.0.1:7233")
    return value


def _web_address(value: str) -> str:
    remedy = "write http://HOST:PORT or https://HOST, with a path prefix at most"
    try:
        parts = urlsplit(value)
        _ = parts.port
    except ValueError as error:
        raise RuleBroken("this is no web address", remedy) from error
    plain = parts.scheme in ("http", "https") and parts.hostname and "\\" not in value
    if not plain or len(value) > 2048 or any(character.isspace() for character in value):
        raise RuleBroken("this is no web address", remedy)
    if parts.username is not None or parts.query or parts.fragment:
        raise RuleBroken("an address holds no account, query or fragment", remedy)
    return value.rstrip("/")


SecretReference = Annotated[str, AfterValidator(_secret_reference)]
Address = Annotated[str, AfterValidator(_address)]
WebAddress = Annotated[str, AfterValidator(_web_address)]


class Part(Document):
    """A part of the file: strict types, no coercion, unknown keys refused."""

    model_config = ConfigDict(strict=True)
