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
BUILD_ID = r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$"
BuildId = Annotated[str, StringConstraints(pattern=BUILD_ID)]
"""What a container image or a wheel is told apart by, such as a version or a commit."""
_REFERENCE = re.compile(
    r"secret:(env/[A-Z][A-Z0-9_]{0,127}|file/[a-z][a-z0-9._-]{0,127}"
    # A vault's own names: words between slashes, of which none begins with a dot or a dash.
    r"|(?!env/|file/)[a-z][a-z0-9_-]{0,63}/(?=.{1,256}\Z)[A-Za-z0-9][\w.:#@-]*(/[A-Za-z0-9][\w.:#@-]*)*)",
    re.ASCII,
)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f-\x9f]+")
_ADDRESS = re.compile(r"^(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\s/]+):(?P<port>[0-9]{1,5})$")


def _secret_reference(value: str) -> str:
    if _REFERENCE.fullmatch(value) is None:
        raise RuleBroken(
            "a secret is given by reference only",
            "write secret:file/NAME, secret:env/NAME or secret:PROVIDER/NAME and keep it there",
            code="config.secret-reference",
        )
    return value


def _key_reference(value: str) -> str:
    if _secret_reference(value).startswith("secret:env/"):
        raise RuleBroken(
            "a private key is not kept in the environment",
            "write secret:file/NAME or secret:PROVIDER/NAME",
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


def _endpoint(value: str) -> str:
    _web_address(value)
    return value


def _absolute_uri(value: str) -> str:
    if "#" in value or _URI.fullmatch(value) is None:
        raise RuleBroken(
            "this is no absolute URI without a fragment",
            "begin it with a scheme, such as https: or urn:",
        )
    return value


def _web_origin(value: str) -> str:
    if re.fullmatch(r"https?://([a-z0-9.-]+|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?", value) is None:
        raise RuleBroken(
            "this is no origin", "write it as browsers do: https://HOST or https://HOST:PORT"
        )
    return value


SecretReference = Annotated[str, AfterValidator(_secret_reference)]
KeyReference = Annotated[str, AfterValidator(_key_reference)]
"""A private key by reference: in a file or a vault, never in a variable."""
Address = Annotated[str, AfterValidator(_address)]
WebAddress = Annotated[str, AfterValidator(_web_address)]
WebOrigin = Annotated[str, AfterValidator(_web_origin)]
Endpoint = Annotated[str, AfterValidator(_endpoint)]
"""A web address that is called as it stands, a closing slash included."""
AbsoluteUri = Annotated[str, StringConstraints(max_length=2_048), AfterValidator(_absolute_uri)]


class Part(Document):
    """A part of the file: strict types, no coercion, unknown keys refused."""

    model_config = ConfigDict(strict=True)
