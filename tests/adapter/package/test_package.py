"""Packages: equal bytes, atomic writing, and the refusal of everything else."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from activities.catalogue import Catalogue
from adapter.authoring import load_project
from adapter.errors import AdapterError, Refused, Unavailable
from adapter.package import package_files, read_package, write_package
from interpreter.definition.document import PackagedDefinition
from tests.house.places import ROOT


@pytest.fixture(scope="module")
def packaged() -> PackagedDefinition:
    """The example, compiled."""
    result = load_project(ROOT / "examples" / "reviewed-notice", Catalogue.standard())
    assert result.definition is not None
    return result.definition


@pytest.fixture
def package(packaged: PackagedDefinition, tmp_path: Path) -> Path:
    """The folder of a package."""
    write_package(packaged, tmp_path / "package")
    return tmp_path / "package"


def code_of(directory: Path, digest: str | None = None) -> str:
    """The code with which a package is refused."""
    with pytest.raises(AdapterError) as caught:
        read_package(directory, digest)
    assert caught.value.remedy
    return caught.value.code


def test_what_was_written_is_read_again(packaged: PackagedDefinition, tmp_path: Path) -> None:
    digest = write_package(packaged, tmp_path / "package")
    package = read_package(tmp_path / "package", digest)
    assert package.definition.definition.to_json() == packaged.definition.to_json()
    assert package.definition.labels == packaged.labels
    assert package.definition.definition.revision == packaged.definition.revision
    assert package.digest == digest


def test_the_digest_is_that_of_the_sums(package: Path) -> None:
    definition, sums = (package / name for name in ("definition.json", "SHA256SUMS"))
    line = f"{hashlib.sha256(definition.read_bytes()).hexdigest()}  definition.json\n"
    assert sums.read_text() == line
    assert read_package(package).digest == f"sha256:{hashlib.sha256(line.encode()).hexdigest()}"


def test_equal_definitions_give_equal_bytes(packaged: PackagedDefinition) -> None:
    again = PackagedDefinition.model_validate_json(json.dumps(packaged.to_json()))
    assert package_files(again) == package_files(packaged)


@pytest.mark.parametrize("kind", ["folder", "file", "dangling link"])
def test_nothing_is_written_over(packaged: PackagedDefinition, tmp_path: Path, kind: str) -> None:
    target = tmp_path / "package"
    match kind:
        case "folder":
            target.mkdir()
        case "file":
            target.write_text("mine")
        case _:
            target.symlink_to(tmp_path / "nowhere")
    with pytest.raises(Refused) as caught:
        write_package(packaged, target)
    assert caught.value.code == "package.exists"
    assert os.listdir(tmp_path) == ["package"]


def test_a_folder_that_appears_while_writing_is_kept(
    packaged: PackagedDefinition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapter.package.write.os.path.lexists", lambda path: False)
    (tmp_path / "package").mkdir()
    with pytest.raises(Refused):
        write_package(packaged, tmp_path / "package")
    assert os.listdir(tmp_path / "package") == []
    assert os.listdir(tmp_path) == ["package"]


def test_a_write_that_fails_leaves_nothing(
    packaged: PackagedDefinition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(handle: int) -> None:
        raise OSError(28, "no space left on device")

    monkeypatch.setattr("adapter.package.write.os.fsync", no_room)
    with pytest.raises(Unavailable):
        write_package(packaged, tmp_path / "package")
    assert os.listdir(tmp_path) == []


def test_a_missing_parent_is_a_clear_error(packaged: PackagedDefinition, tmp_path: Path) -> None:
    with pytest.raises(Unavailable) as caught:
        write_package(packaged, tmp_path / "no" / "package")
    assert caught.value.code == "package.unwritable"


def _rewrite(
    package: Path, change: Callable[[dict[str, object]], object], indent: int | None = None
) -> None:
    """Change the definition and write sums that fit it."""
    file = package / "definition.json"
    document = json.loads(file.read_bytes())
    change(document)
    text = json.dumps(document, separators=(",", ":"), sort_keys=True, indent=indent)
    file.write_text(text)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    (package / "SHA256SUMS").write_text(f"{digest}  definition.json\n")


TAMPERINGS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "changed": ("package.changed", lambda p: (p / "definition.json").write_text("{}")),
    "missing": ("package.missing", lambda p: (p / "definition.json").unlink()),
    "no sums": ("package.missing", lambda p: (p / "SHA256SUMS").unlink()),
    "extra": ("package.extra", lambda p: (p / "REVISION").write_text("x")),
    "hidden": ("package.extra", lambda p: (p / ".x").mkdir()),
    "sums": ("package.sums", lambda p: (p / "SHA256SUMS").write_text("x\n")),
    "empty sums": ("package.sums", lambda p: (p / "SHA256SUMS").write_text("")),
    "huge": ("package.too-large", lambda p: (p / "definition.json").write_bytes(b"0" * 400_000)),
    "format": (
        "package.other-format",
        lambda p: _rewrite(p, lambda d: d["definition"].update(format="v9")),  # type: ignore[attr-defined]
    ),
    "unknown member": ("package.definition", lambda p: _rewrite(p, lambda d: d.update(more=1))),
    "no object": ("package.definition", lambda p: _rewrite(p, lambda d: d.clear())),
    "not canonical": ("package.not-canonical", lambda p: _rewrite(p, lambda d: d, indent=1)),
}


@pytest.mark.parametrize("kind", TAMPERINGS)
def test_a_package_that_is_not_what_was_packaged_is_refused(package: Path, kind: str) -> None:
    code, tamper = TAMPERINGS[kind]
    tamper(package)
    assert code_of(package) == code


@pytest.mark.parametrize("name", ["definition.json", "SHA256SUMS"])
def test_a_linked_file_is_refused(package: Path, tmp_path: Path, name: str) -> None:
    shutil.copy(package / name, tmp_path / name)
    (package / name).unlink()
    (package / name).symlink_to(tmp_path / name)
    assert code_of(package) == "package.not-a-file"
    (package / name).unlink()
    os.link(tmp_path / name, package / name)
    assert code_of(package) == "package.not-a-file"


def test_a_pipe_is_refused_without_waiting(package: Path) -> None:
    (package / "SHA256SUMS").unlink()
    os.mkfifo(package / "SHA256SUMS")
    assert code_of(package) == "package.not-a-file"


def test_a_linked_folder_is_refused(package: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(package)
    assert code_of(tmp_path / "link") == "package.not-a-folder"


def test_another_digest_than_the_pinned_one_is_refused(package: Path) -> None:
    assert code_of(package, "sha256:" + "0" * 64) == "package.other-digest"


def test_an_absent_package_is_unavailable(tmp_path: Path) -> None:
    assert code_of(tmp_path / "none") == "package.unreadable"
