"""The forms of values in a public runtime file (contract 1.2): addresses, secrets, texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from activities.destinations import is_forbidden_host
from activities.yaml.tree import Scalar, Sequence, Tree
from adapter.authoring.formats.shape import Rule, Section, read_text

LONGEST_URL = 2_048

_SECRET = re.compile(r"secret:(?:env/[A-Z][A-Z0-9_]{0,127}|file/[a-z][a-z0-9._-]{0,127})\Z")
_UNSAFE = re.compile(r"[\s\\\x00-\x1f\x7f-\x9f]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f-\x9f]+\Z")

ABSOLUTE_PATH = Rule(
    re.compile(r"/(?!.*(?:\A|/)\.{1,2}(?:/|\Z))[^\x00-\x1f\x7f]*\Z"),
    "write an absolute path without `.` and `..`",
)


def short_text(most: int) -> Rule:
    """Text of 1 to ``most`` characters without control characters."""
    pattern = re.compile(rf"(?=.*\S)[^\x00-\x1f\x7f-\x9f]{{1,{most}}}\Z")
    return Rule(pattern, f"use 1 to {most} characters without control characters")


@dataclass(slots=True)
class Providers:
    """Which ways to secrets a file enables; None while that could not be read."""

    file: bool | None = None
    environment: bool | None = None


@dataclass(slots=True)
class Values:
    """Reads values of one file; ``providers`` decide about its secret references."""

    providers: Providers = field(default_factory=Providers)

    def secret(
        self, section: Section, key: str, *, required: bool = True, file_only: bool = False
    ) -> None:
        """A secret reference whose provider is enabled; ``file_only`` for private keys."""
        rule = Rule(_SECRET, "write `secret:file/NAME` or `secret:env/NAME`")
        text = section.text(key, rule, required=required)
        if text is None:
            return
        provider = "file" if text.startswith("secret:file/") else "environment"
        if file_only and provider != "file":
            message = f"`{key}` must be a key in a file"
            refuse(section, "adapter.configuration", key, message, "write `secret:file/NAME`")
        enabled = self.providers.file if provider == "file" else self.providers.environment
        if enabled is False:
            message = f"the provider of this secret is not enabled: {provider}"
            remedy = f"add `{provider}` to `secretProviders`"
            refuse(section, "runtime-config.refused", key, message, remedy)


def refuse(section: Section, code: str, key: str, message: str, remedy: str) -> None:
    """Report a finding at a member under ``coordinator.<code>``."""
    section.refuse(f"coordinator.{code}", section.place(key), message, remedy)


def web_address(section: Section, key: str, code: str, *, required: bool = True) -> str | None:
    """An http or https address of at most 2,048 characters without an account."""
    text = section.text(key, short_text(LONGEST_URL), required=required)
    if text is None:
        return None
    if not _is_web_address(text):
        refuse(section, code, key, f"`{key}` is no web address", "write https://HOST")
        return None
    if is_forbidden_host(urlsplit(text).hostname or ""):
        message = f"`{key}` is the address of a metadata service, or of no product at all"
        refuse(section, code, key, message, "name the product's own address")
        return None
    return text


def _is_web_address(text: str) -> bool:
    if _UNSAFE.search(text):
        return False
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc


def base_address(section: Section, code: str) -> str | None:
    """``baseUrl``: https, or http on a numeric loopback address; a path prefix at most."""
    text = web_address(section, "baseUrl", code)
    if text is None:
        return None
    parts = urlsplit(text)
    remedy = "write https://HOST with a path prefix at most"
    if parts.query or parts.fragment or "?" in text or "#" in text:
        message = "a base address has no query and no fragment"
        refuse(section, code, "baseUrl", message, remedy)
    elif "" in parts.path.strip("/").split("/") and parts.path.strip("/"):
        refuse(section, code, "baseUrl", "a base address has no empty path segment", remedy)
    elif parts.scheme == "http" and not is_loopback(text):
        message = "plain http is allowed on a numeric loopback address only"
        refuse(section, code, "baseUrl", message, "use https")
    else:
        return text
    return None


def is_loopback(text: str) -> bool:
    """True for an address whose host is a numeric loopback address."""
    try:
        return ip_address(urlsplit(text).hostname or "").is_loopback
    except ValueError:
        return False


def absolute_uri(
    section: Section, key: str, most: int, code: str, *, required: bool = True
) -> None:
    """An absolute URI without a fragment."""
    text = section.text(key, short_text(most), required=required)
    if text is not None and ("#" in text or not _SCHEME.match(text)):
        message = f"`{key}` is no absolute URI without a fragment"
        refuse(section, code, key, message, "begin it with a scheme, such as `https:` or `urn:`")


def texts(
    section: Section,
    key: str,
    rule: Rule,
    least: int,
    most: int,
    *,
    required: bool = True,
    check: Callable[[str], str | None] | None = None,
    code: str = "",
) -> list[str]:
    """A list of ``least`` to ``most`` different texts; ``check`` says what else is wrong."""
    sequence = section.sequence(key, required=required)
    if sequence is None:
        return []
    length(section, key, sequence, least, most)
    found: list[str] = []
    for tree in sequence.items:
        text = read_text(section, tree, f"an item of `{key}`", rule)
        if text is None:
            continue
        wrong = None if check is None else check(text)
        if wrong is not None:
            section.refuse(f"coordinator.{code}", tree.spot, wrong, "correct it")
        if text in found:
            section.refuse("config.duplicate-item", tree.spot, f"`{key}` has this item twice")
        found.append(text)
    return found


def length(section: Section, key: str, sequence: Sequence, least: int, most: int) -> None:
    """Report a list that is too short or too long."""
    if not least <= len(sequence.items) <= most:
        message = f"`{key}` must have {least} to {most} items, not {len(sequence.items)}"
        section.refuse("config.invalid-length", section.place(key), message)


def scalar_text(tree: Tree | None) -> str | None:
    """The text of a scalar, or None."""
    return tree.value if isinstance(tree, Scalar) and isinstance(tree.value, str) else None
