"""Tests of the commands about projects and packages; only plan and apply need a database."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from adapter.cli.local_files import Addresses, Bound, LocalFiles
from adapter.cli.pretend_connections import pretend_connections
from tests.adapter.cli.conftest import Run
from tests.fixtures.postgres import as_owner

_EXAMPLE = Path(__file__).parents[3] / "examples" / "reviewed-notice"


@pytest.fixture
def project(run: Run, tmp_path: Path) -> str:
    """A project as `init` writes it."""
    folder = str(tmp_path / "project")
    assert run("init", folder).code == 0
    return folder


@pytest.fixture
def package(run: Run, project: str, tmp_path: Path) -> str:
    """The package of that project."""
    folder = str(tmp_path / "package")
    assert run("package", "--project", project, "--output", folder).code == 0
    return folder


def test_what_init_writes_passes_check(run: Run, project: str) -> None:
    said = run("check", "--project", project, "--deny-warnings", "--format", "json").object
    assert (said["status"], said["workflow"]) == ("valid", "first-workflow")


def test_init_overwrites_nothing(run: Run, project: str) -> None:
    said = run("init", project)
    assert said.code == 1
    assert said.err.startswith(f"error[project.exists]: {project}: ")


def test_a_project_with_mistakes_is_refused_with_all_of_them(run: Run, project: str) -> None:
    workflow = Path(project) / "workflow.yaml"
    text = workflow.read_text().replace("next: question", "next: nowhere")
    workflow.write_text(text.replace("outcome: complete}", "outcome: unheard}"))
    said = run("check", "--project", project)
    assert said.code == 1
    assert said.err.count("error[") >= 2
    report = run("check", "--project", project, "--format", "json").object
    assert report["ok"] is False
    assert report["errors"] >= 2


def test_a_folder_without_a_project_can_not_be_read(run: Run, tmp_path: Path) -> None:
    assert run("check", "--project", str(tmp_path)).code == 3
    assert run("check", "--project", str(tmp_path / "none")).code == 3


def test_what_init_writes_passes_its_own_scenarios(run: Run, project: str) -> None:
    said = run("test", project, "--coverage", "--format", "json").object
    assert (said["status"], said["passed"], said["coverage"]["untaken"]) == ("passed", 2, [])


def test_equal_projects_give_equal_packages(run: Run, project: str, tmp_path: Path) -> None:
    first, second = (
        run("package", "--project", project, "--output", str(tmp_path / name), "--format", "json")
        for name in ("one", "two")
    )
    assert first.object["package"] == second.object["package"]
    again = run("package", "--project", project, "--output", str(tmp_path / "one"))
    assert (again.code, again.err[:21]) == (1, "error[package.exists]")


@pytest.fixture
def runtime(tmp_path: Path, empty_database_url: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A development runtime file over an empty database; nothing else runs."""
    files = LocalFiles(tmp_path / "deployment")
    files.prepare()
    nowhere, owner = "http://127.0.0.1:1", as_owner(empty_database_url)
    at = Addresses("127.0.0.1:1", nowhere, 1, nowhere, empty_database_url, owner)
    files.write_runtime(at, {"floorSeconds": 1}, Bound(pretend_connections(at.products)))
    monkeypatch.setenv("COORDINATOR_RUNTIME", str(files.runtime))
    return files.runtime


def test_plan_tells_what_apply_does_once(run: Run, runtime: Path, package: str) -> None:
    planned = run("plan", "--package", package, "--format", "json").object
    assert planned["changes"] == ["definition", "package", "activation"]
    applied = run("apply", "--package", package, "--format", "json").object
    assert applied["changes"] == planned["changes"]
    assert run("plan", "--package", package, "--format", "json").object["changes"] == []
    assert run("apply", "--package", package).out.endswith("nothing to change\n")


def test_another_digest_than_the_expected_one_is_refused(
    run: Run, runtime: Path, package: str
) -> None:
    said = run("apply", "--package", package, "--digest", "sha256:" + "0" * 64)
    assert said.code == 1
    assert said.err.startswith("error[package.other-digest]")


def test_a_package_needs_its_connections(run: Run, runtime: Path, package: str) -> None:
    document = yaml.safe_load(runtime.read_text())
    del document["connections"]["registry"]
    runtime.write_text(yaml.safe_dump(document))
    said = run("plan", "--package", package)
    assert said.code == 1
    assert said.err.startswith("error[connection.unbound]: /connections/registry: ")


def test_a_database_that_is_away_is_unavailable(run: Run, runtime: Path, package: str) -> None:
    secret = runtime.parent / "secrets" / "migration-url"
    secret.write_text("postgresql://nobody@127.0.0.1:1/none")
    said = run("apply", "--package", package)
    assert said.code == 3
    assert said.err.startswith("error[ledger.unavailable]")


def test_generated_secrets_are_kept_and_closed_to_others(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path / "deployment")
    files.prepare()
    before = {path.name: path.read_text() for path in files.secrets.iterdir()}
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in files.secrets.iterdir())
    files.prepare()
    after = {path.name: path.read_text() for path in files.secrets.iterdir()}
    # What stands in an address of Temporal's UI is worth nothing at the next start.
    assert before.pop("temporal-ui-key") != after.pop("temporal-ui-key")
    assert before == after
