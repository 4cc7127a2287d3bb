"""What else lies in a project folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from adapter.authoring import check_folder
from adapter.errors import Unavailable


def found(folder: Path) -> list[tuple[str, str]]:
    """Code and file of every finding."""
    return [
        (one.code.removeprefix("coordinator.project."), one.spot.file)
        for one in check_folder(folder)
    ]


def test_the_projects_own_files_are_no_finding(tmp_path: Path) -> None:
    for name in ("workflow.yaml", "scenarios.yaml", "runtime.yaml", "functions.rhai", "README.md"):
        (tmp_path / name).write_text("kind: CoordinatorProject\n")
    (tmp_path / ".coordinator").mkdir()
    (tmp_path / "catalogue.yaml").write_text("kind: CoordinatorCatalogue\n")
    (tmp_path / "compose.yml").write_text("services: {web: {image: *x}}\n")
    assert found(tmp_path) == []


def test_links_pipes_and_folders_are_named(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "b.yaml")
    (tmp_path / "c").mkdir()
    assert found(tmp_path) == [
        ("not-a-regular-file", "a"),
        ("not-a-regular-file", "b.yaml"),
        ("unread-directory", "c"),
    ]


def test_a_file_of_ours_under_another_name_is_named_at_its_kind(tmp_path: Path) -> None:
    (tmp_path / "flow.yaml").write_text("apiVersion: x\nkind: CoordinatorProject\n")
    (finding,) = check_folder(tmp_path)
    assert finding.code == "coordinator.project.misplaced-kind"
    assert (finding.spot.line, finding.spot.pointer) == (2, "/kind")
    assert "workflow.yaml" in finding.remedy


def test_a_folder_that_is_no_project_is_not_read_through(tmp_path: Path) -> None:
    for index in range(1_025):
        (tmp_path / f"{index}.txt").touch()
    assert found(tmp_path) == [("too-many-files", ".")]


def test_an_absent_folder_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        check_folder(tmp_path / "none")
