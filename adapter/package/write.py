"""Writes a package: a new folder that appears whole or not at all."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import tempfile
from pathlib import Path

from adapter.errors import Refused, Unavailable
from adapter.package.digests import (
    DEFINITION_FILE,
    SUMS_FILE,
    PackageDigest,
    digest_of,
    sums_of,
)
from interpreter.contract.values import canonical_bytes
from interpreter.definition.document import LARGEST_DEFINITION_BYTES, PackagedDefinition

_KEEP_EXISTING = 1  # RENAME_NOREPLACE
_THIS_FOLDER = -100  # AT_FDCWD


def package_files(packaged: PackagedDefinition) -> dict[str, bytes]:
    """The bytes of a package's files; equal definitions give equal bytes on every machine.

    Raises Refused ``package.too-large`` above 393,216 bytes.
    """
    data = canonical_bytes(packaged.to_json())
    if len(data) > LARGEST_DEFINITION_BYTES:
        raise Refused(
            "package.too-large",
            f"{DEFINITION_FILE} has {len(data)} bytes, the limit is {LARGEST_DEFINITION_BYTES}",
            place=DEFINITION_FILE,
            remedy="shorten titles, schemas and functions, or split the workflow",
        )
    files = {DEFINITION_FILE: data}
    return {**files, SUMS_FILE: sums_of(files)}


def write_package(packaged: PackagedDefinition, directory: Path) -> PackageDigest:
    """Write a package as the new folder ``directory``; gives the digest to pin.

    The files are written and synced beside the target, which then gets its name in one step.
    Raises Refused ``package.exists`` for a path that is taken, whatever stands there, and
    Unavailable ``package.unwritable``; in both cases nothing is left behind.
    """
    files = package_files(packaged)
    if os.path.lexists(directory):
        raise _taken(directory)
    try:
        parent = directory.absolute().parent
        unfinished = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=parent))
    except OSError as error:
        raise _unwritable(directory) from error
    try:
        for name, data in files.items():
            _write_file(unfinished / name, data)
        unfinished.chmod(0o755)
        _sync_folder(unfinished)
        _rename_new(unfinished, directory)
        _sync_folder(parent)
    except FileExistsError as error:
        raise _taken(directory) from error
    except OSError as error:
        raise _unwritable(directory) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return digest_of(files[SUMS_FILE])


def _write_file(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    path.chmod(0o644)


def _sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _rename_new(source: Path, target: Path) -> None:
    """Rename, but never onto something: FileExistsError if ``target`` is taken.

    A plain rename replaces an empty folder that appeared meanwhile; Linux can be asked not to.
    """
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        rename = None
    if rename is not None:
        names = (os.fsencode(source), os.fsencode(target))
        if rename(_THIS_FOLDER, names[0], _THIS_FOLDER, names[1], _KEEP_EXISTING) == 0:
            return
        code = ctypes.get_errno()
        if code not in (errno.EINVAL, errno.ENOSYS):
            raise OSError(code, os.strerror(code), str(target))
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    os.rename(source, target)


def _taken(directory: Path) -> Refused:
    return Refused(
        "package.exists",
        "a package is never written over something",
        place=str(directory),
        remedy="name a path that does not exist yet",
    )


def _unwritable(directory: Path) -> Unavailable:
    return Unavailable(
        "package.unwritable",
        "the package can not be written",
        place=str(directory),
        remedy="check that the parent folder exists, is writable and has room",
    )
