"""The list of a package's files with their digests, and the digest of that list."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated, TypeAlias

from pydantic import StringConstraints

DEFINITION_FILE = "definition.json"
SUMS_FILE = "SHA256SUMS"

PackageDigest: TypeAlias = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
"""``sha256:`` and 64 hex digits over the bytes of SHA256SUMS; what a deployment pins."""

_LINE = re.compile(rb"([0-9a-f]{64})  ([A-Za-z0-9._-]{1,64})\Z")


def sums_of(files: dict[str, bytes]) -> bytes:
    """SHA256SUMS of these files: one line each, sorted by name (contract 1.6)."""
    lines = [
        f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items())
    ]
    return "".join(lines).encode()


def digest_of(sums: bytes) -> PackageDigest:
    """The package digest of the bytes of SHA256SUMS."""
    return "sha256:" + hashlib.sha256(sums).hexdigest()


def parse_sums(sums: bytes) -> dict[str, str] | None:
    """File name -> hex digest, or None when the bytes are no list that ``sums_of`` writes."""
    found: dict[str, str] = {}
    if not sums.endswith(b"\n"):
        return None
    for line in sums[:-1].split(b"\n"):
        match = _LINE.match(line)
        if match is None:
            return None
        found[match[2].decode()] = match[1].decode()
    expected = "".join(f"{digest}  {name}\n" for name, digest in sorted(found.items()))
    return found if expected.encode() == sums else None
