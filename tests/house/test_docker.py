"""The container image and the compose file: what they name works, and they hold no surprise."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from adapter.cli import main, service
from adapter.config.loading import load_runtime
from adapter.config.rules import references
from adapter.embedded import temporal_program
from tests.house.places import ROOT

DOCKER = ROOT / "docker"
_PROGRAMS = {"coordinator": service, "coordinatorctl": main}
_PIN = re.compile(r"^([a-z0-9._-]+(?:\[[^\]]*\])?==\S+)", re.MULTILINE)


def _services() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]
    return services


def _own() -> dict[str, Any]:
    """The services of our images, Temporal's among them."""
    return {name: one for name, one in _services().items() if "build" in one}


def _processes() -> dict[str, Any]:
    """Those that run a program of ours."""
    return {name: one for name, one in _own().items() if "LEDGER_URL" in one.get("environment", {})}


def _command(one: dict[str, Any]) -> list[str]:
    # A variable of docker/.env stands for one word.
    words = [*one.get("entrypoint", ()), *one.get("command", ())]
    return [re.sub(r"\$\{[^}]*\}", "value", word) for word in words]


def _instructions() -> list[tuple[str, str]]:
    text = (DOCKER / "Dockerfile").read_text().replace("\\\n", " ")
    return re.findall(r"^([A-Z]+) (.*)$", text, re.MULTILINE)


@pytest.mark.parametrize("name", _processes())
def test_every_process_runs_a_command_that_understands_its_words(
    name: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("COORDINATOR_RUNTIME", str(tmp_path / "runtime.yaml"))
    program, *words = _command(_processes()[name])
    # What it is told is looked at first, and only then the runtime file, which is not there.
    assert _PROGRAMS[program].main(words or ["list"]) == 2
    assert "error[runtime.absent]" in capsys.readouterr().err


def test_what_temporals_own_program_is_told_is_understood() -> None:
    for name in ("temporal", "retention"):
        program, *words = _command(_services()[name])
        assert program == "temporal"
        said = subprocess.run(
            [temporal_program(), *words, "--help"], capture_output=True, text=True, check=False
        )
        assert said.returncode == 0, said.stderr


def test_the_image_serves_by_default() -> None:
    words = [(word, rest) for word, rest in _instructions() if word in ("FROM", "CMD")]
    assert words[-1] == ("FROM", "service")
    served = words.index(("FROM", "python:3.12-slim AS service"))
    assert words[served + 1] == ("CMD", '["coordinator", "serve"]')


def test_every_stage_that_runs_is_an_ordinary_user() -> None:
    stages = re.split(r"(?m)^FROM ", (DOCKER / "Dockerfile").read_text())[1:]
    assert [stage.split()[0] for stage in stages[-2:]] == ["service", "service"]
    assert "USER 10001:10001" in stages[-3]
    assert not [stage for stage in stages[-2:] if "USER" in stage]


def test_a_build_that_is_told_apart_has_its_name_in_the_image() -> None:
    assert ("ARG", 'BUILD_ID=""') in _instructions()
    [variables] = [rest for word, rest in _instructions() if word == "ENV" and "HOME" in rest]
    assert "COORDINATOR_BUILD_ID=$BUILD_ID" in variables
    for one in _own().values():
        assert one["build"]["args"] == {"BUILD_ID": "${BUILD_ID:-}"}


def test_the_service_is_asked_whether_it_is_ready() -> None:
    api = _services()["api"]
    port = load_runtime(DOCKER / "runtime.yaml").document.api.bind.rpartition(":")[2]
    assert f"http://127.0.0.1:{port}/ready" in api["healthcheck"]["test"][-1]
    compile(api["healthcheck"]["test"][-1], "healthcheck", "exec")


def test_secrets_and_packages_of_a_trial_are_never_committed() -> None:
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert {"/docker/.env", "/docker/secrets/", "/docker/packages/"} <= set(ignored)


def test_everything_copied_is_there() -> None:
    copied = [rest.split()[:-1] for word, rest in _instructions() if word == "COPY"]
    sources = {name for names in copied for name in names if not names[0].startswith("--from")}
    ignore = (ROOT / ".dockerignore").read_text().splitlines()
    assert sources
    assert all((ROOT / source).exists() for source in sources)
    assert sources <= {line.removeprefix("!") for line in ignore}


def test_no_process_has_more_power_than_it_needs() -> None:
    assert [rest for word, rest in _instructions() if word == "USER"] == ["10001:10001"]
    for one in _own().values():
        assert one["user"] == "10001:10001"
        assert one["read_only"] is True
        assert one["cap_drop"] == ["ALL"]
        assert one["security_opt"] == ["no-new-privileges:true"]
        assert one["ulimits"] == {"core": 0}
        assert "pids_limit" in one


def test_the_only_place_to_write_is_small_and_runs_nothing() -> None:
    for one in _own().values():
        [place] = one["tmpfs"]
        volumes = one.get("volumes", [])
        where, _, options = place.partition(":")
        assert where == "/tmp"
        assert {"noexec", "nosuid", "nodev"} <= set(options.split(","))
        assert re.search(r"\bsize=\d+m\b", options)
        assert [one for one in volumes if not one.endswith(":ro")] in ([], ["temporal:/data"])


def test_what_is_installed_is_pinned_by_hash_and_nothing_else() -> None:
    runs = [rest for word, rest in _instructions() if word == "RUN" and "pip install" in rest]
    installs = [part for run in runs for part in run.split("&&") if "pip install" in part]
    assert all("--no-deps" in install for install in installs)
    # By a lock file, or what was built here, which nothing may be fetched for.
    assert all("--require-hashes" in one or "--no-index" in one for one in installs)
    locks = set(re.findall(r"-r /source/(\S+)", " ".join(installs)))
    assert {ROOT / lock for lock in locks} == set(DOCKER.glob("*.lock"))
    for lock in DOCKER.glob("*.lock"):
        blocks = re.split(r"\n(?=\S)", lock.read_text().strip())
        assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", block) for block in blocks)


def test_ports_are_open_to_this_host_only() -> None:
    ports = [port for one in _services().values() for port in one.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_there_is_one_api_and_there_are_two_workers() -> None:
    assert _services()["worker"]["deploy"]["replicas"] == 2
    assert "deploy" not in _services()["api"]


def test_a_process_waits_for_what_it_needs() -> None:
    for one in _own().values():
        assert set(one.get("depends_on", ())) <= set(_services())
    assert set(_own()["worker"]["depends_on"]) == {"apply", "retention"}


def test_the_runtime_file_is_sound_and_its_secrets_are_passed_on() -> None:
    runtime = load_runtime(DOCKER / "runtime.yaml")
    names = {secret.removeprefix("secret:env/") for _, secret in references(runtime.document)}
    for name, one in _processes().items():
        # Only what applies a package may act as the owner of the schema.
        lacks = set() if name == "apply" else {"LEDGER_OWNER_URL"}
        assert names & set(one["environment"]) == names - lacks


def test_the_roles_of_the_database_are_made_before_anything_connects() -> None:
    postgres = _services()["postgres"]
    script = (DOCKER / "roles.sql").read_text()
    assert "./roles.sql:/docker-entrypoint-initdb.d/roles.sql:ro" in postgres["volumes"]
    read = set(re.findall(r"\\getenv \w+ (\w+)", script))
    assert read <= set(postgres["environment"])
    made = set(re.findall(r"create role (\w+)", script))
    values = [value for one in _processes().values() for value in one["environment"].values()]
    assert set(re.findall(r"postgresql://(\w+):", " ".join(values))) == made


def test_every_variable_is_explained() -> None:
    compose = (DOCKER / "compose.yaml").read_text()
    required = set(re.findall(r"\$\{([A-Z_0-9]+):\?", compose))
    assert required
    assert required <= set(
        re.findall(r"^([A-Z_0-9]+)=", (DOCKER / "env.example").read_text(), re.M)
    )


def test_the_image_installs_versions_of_the_main_lock() -> None:
    image = {pin for lock in DOCKER.glob("*.lock") for pin in _PIN.findall(lock.read_text())}
    everything = set(_PIN.findall((ROOT / "requirements.lock").read_text()))
    assert image
    assert image < everything
