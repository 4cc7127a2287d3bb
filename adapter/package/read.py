"""Reads a package and refuses everything that is not exactly what was packaged."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from adapter.config.json_text import strict_json
from adapter.errors import AdapterError, Refused, Unavailable
from adapter.package.digests import (
    DEFINITION_FILE,
    SUMS_FILE,
    PackageDigest,
    digest_of,
    parse_sums,
    sums_of,
)
from interpreter.contract.values import canonical_bytes
from interpreter.definition.document import (
    FORMAT,
    LARGEST_DEFINITION_BYTES,
    Definition,
    PackagedDefinition,
)
from interpreter.errors import DefinitionError

_NAMES = frozenset({DEFINITION_FILE, SUMS_FILE})
_AGAIN = "package the project again"


@dataclass(frozen=True, slots=True)
class Package:
    """A package that was read whole: its definition with labels, and its digest."""

    definition: PackagedDefinition
    digest: PackageDigest


def read_package(directory: Path, expected_digest: PackageDigest | None = None) -> Package:
    """Read and verify a package folder.

    Raises Refused ``package.*`` when a file is missing, extra, changed, linked or no regular file,
    when the digest is not ``expected_digest``, and when the definition is none that this version
    reads; Unavailable ``package.unreadable`` when the folder can not be read.
    """
    try:
        files = _files(directory)
    except OSError as error:
        raise Unavailable(
            "package.unreadable",
            "the package can not be read",
            place=str(directory),
            remedy="check that the folder exists and is readable",
        ) from error
    sums = files[SUMS_FILE]
    digest = digest_of(sums)
    if expected_digest is not None and digest != expected_digest:
        raise _refused(
            "package.other-digest",
            "this is not the package whose digest is pinned",
            directory / SUMS_FILE,
            "pin this package's digest, or name the package that is pinned",
        )
    listed = parse_sums(sums)
    if listed is None or set(listed) != {DEFINITION_FILE}:
        place = directory / SUMS_FILE
        raise _refused("package.sums", "the list of digests is not well formed", place, _AGAIN)
    if sums_of({DEFINITION_FILE: files[DEFINITION_FILE]}) != sums:
        place = directory / DEFINITION_FILE
        raise _refused(
            "package.changed", "the file is not the one that was packaged", place, _AGAIN
        )
    return Package(_definition(files[DEFINITION_FILE], directory / DEFINITION_FILE), digest)


def _files(directory: Path) -> dict[str, bytes]:
    """The two files of a package, each read once through a handle that follows no link."""
    found = os.lstat(directory)
    if not stat.S_ISDIR(found.st_mode):
        remedy = "name the package's own folder, not a link"
        raise _refused("package.not-a-folder", "this is not a folder", directory, remedy)
    names = set(os.listdir(directory))
    for name in sorted(names - _NAMES):
        remedy = "remove it, or package the project again"
        raise _refused(
            "package.extra", "this does not belong to the package", directory / name, remedy
        )
    for name in sorted(_NAMES - names):
        raise _refused("package.missing", "the file is missing", directory / name, _AGAIN)
    return {name: _read(directory / name) for name in sorted(_NAMES)}


def _read(path: Path) -> bytes:
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        message = "this is a link or no regular file"
        raise _refused("package.not-a-file", message, path, _AGAIN)
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        data = file.read(LARGEST_DEFINITION_BYTES + 1)
    if len(data) > LARGEST_DEFINITION_BYTES:
        raise _refused(
            "package.too-large", "the file is larger than a package's may be", path, _AGAIN
        )
    return data


def _definition(data: bytes, path: Path) -> PackagedDefinition:
    try:
        value = strict_json(data)
        written = PackagedDefinition.model_validate(value)
        written = written.model_copy(update={"definition": Definition.read(value["definition"])})
        canonical = canonical_bytes(value)
    except (ValueError, RecursionError, DefinitionError) as error:
        raise _unreadable(error, path) from error
    if written.definition.format != FORMAT:
        raise _refused(
            "package.other-format",
            "the definition has a format that this version does not read",
            path,
            "package the project again with this version",
        )
    if canonical != data:
        raise _refused("package.not-canonical", "the definition is not canonical", path, _AGAIN)
    return written


def _unreadable(error: Exception, path: Path) -> AdapterError:
    where = ""
    if isinstance(error, ValidationError):
        where = "".join(f"/{part}" for part in error.errors(include_input=False)[0]["loc"])
    message = f"the definition is none that this version reads{f', at {where}' if where else ''}"
    return _refused(
        "package.definition", message, path, "package the project again with this version"
    )


def _refused(code: str, message: str, place: Path, remedy: str) -> Refused:
    return Refused(code, message, place=str(place), remedy=remedy)
