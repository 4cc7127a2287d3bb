"""The commands `versions`: builds of real worker processes, and every way to be refused."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import yaml

from adapter.cli.local_files import Addresses, Bound, LocalFiles
from adapter.config.loading import load_runtime
from adapter.embedded import ChildProcess
from adapter.errors import Usage
from adapter.wiring.versions import own_version
from tests.adapter.cli.conftest import Run
from tests.fixtures.deployment import until_polling, worker

_NOWHERE = "http://127.0.0.1:1"


@pytest.fixture
def files(
    tmp_path: Path, temporal_address: str, task_queue: str, database_url: str, owner_url: str
) -> LocalFiles:
    """A deployment that tells its builds apart, under a name of this test alone."""
    made = LocalFiles(tmp_path / "deployment")
    made.prepare()
    at = Addresses(temporal_address, _NOWHERE, 1, _NOWHERE, database_url, owner_url)
    made.write_runtime(at, {}, Bound({}))
    document = yaml.safe_load(made.runtime.read_text())
    document["temporal"] |= {"taskQueue": task_queue, "deployment": {"name": task_queue}}
    made.runtime.write_text(yaml.safe_dump(document))
    return made


def tell_apart(files: LocalFiles, deployment: dict[str, str] | None) -> None:
    """Change `temporal.deployment` of the runtime file, or take it out."""
    document = yaml.safe_load(files.runtime.read_text())
    document["temporal"].pop("deployment", None)
    if deployment is not None:
        document["temporal"]["deployment"] = deployment
    files.runtime.write_text(yaml.safe_dump(document))


def versions(run: Run, files: LocalFiles, *arguments: str) -> tuple[int, dict[str, object]]:
    said = run("versions", *arguments, "--runtime", str(files.runtime), "--format", "json")
    return said.code, said.object


async def _served(files: LocalFiles) -> ChildProcess:
    process = worker(files, "worker-1")
    await process.start()
    await until_polling(files, process)
    return process


def test_a_build_of_a_worker_process_is_made_current_and_shown(
    run: Run, files: LocalFiles, task_queue: str
) -> None:
    tell_apart(files, {"name": task_queue, "buildId": "1.0"})
    with asyncio.Runner() as runner:
        process = runner.run(_served(files))
        try:
            assert versions(run, files, "current", "1.0") == (
                0,
                {"deployment": task_queue, "current": "1.0"},
            )
            code, listed = versions(run, files, "list")
            shown = run("versions", "list", "--runtime", str(files.runtime)).out
            drained = versions(run, files, "drain", "--wait", "--seconds", "5")
        finally:
            runner.run(process.stop())
    rows = listed["builds"]
    assert isinstance(rows, list)
    assert (code, listed["current"]) == (0, "1.0")
    assert [(row["build"], row["state"], row["runs"]) for row in rows] == [("1.0", "current", 0)]
    assert f"Builds of {task_queue}" in shown
    done = {"nudged": 0, "left": 0, "leftOn": {}}
    assert drained == (0, {"deployment": task_queue, "current": "1.0", **done})


def test_a_build_that_no_worker_has_is_refused(run: Run, files: LocalFiles) -> None:
    code, said = versions(run, files, "current", "9.9", "--seconds", "0")
    assert (code, said["code"], said["place"]) == (1, "versions.build-absent", "9.9")


def test_what_can_be_no_build_is_a_wrong_usage(run: Run, files: LocalFiles) -> None:
    code, said = versions(run, files, "current", "no words")
    assert (code, said["code"], said["place"]) == (2, "usage.invalid-value", "BUILD")


def test_nothing_is_drained_to_no_current_build(run: Run, files: LocalFiles) -> None:
    code, said = versions(run, files, "drain")
    assert (code, said["code"]) == (1, "versions.no-current")
    assert versions(run, files, "list")[1]["builds"] == []


@pytest.mark.parametrize("action", [("list",), ("current", "1.0"), ("drain",)])
def test_a_deployment_that_tells_no_builds_apart_has_none(
    run: Run, files: LocalFiles, action: tuple[str, ...]
) -> None:
    tell_apart(files, None)
    code, said = versions(run, files, *action)
    assert (code, said["code"], said["place"]) == (2, "versions.off", "temporal.deployment")


def test_the_image_says_which_build_a_worker_is(files: LocalFiles) -> None:
    tell_apart(files, {"buildId": "of-the-file"})
    runtime = load_runtime(files.runtime)
    of_file, of_image = (
        own_version(runtime, {}),
        own_version(runtime, {"COORDINATOR_BUILD_ID": "2"}),
    )
    assert of_file is not None
    assert of_image is not None
    assert (of_file.deployment_name, of_file.build_id) == ("development", "of-the-file")
    assert of_image.build_id == "2"


@pytest.mark.parametrize("build", ["", "no words", "-1", "x" * 129, "1\n"])
def test_a_worker_without_a_usable_build_does_not_start(files: LocalFiles, build: str) -> None:
    with pytest.raises(Usage) as refused:
        own_version(load_runtime(files.runtime), {"COORDINATOR_BUILD_ID": build})
    assert refused.value.code == "versions.build-unnamed"


def test_a_build_of_the_image_changes_nothing_where_builds_are_not_told_apart(
    files: LocalFiles,
) -> None:
    tell_apart(files, None)
    assert own_version(load_runtime(files.runtime), {"COORDINATOR_BUILD_ID": "2"}) is None
