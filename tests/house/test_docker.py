"""The container image and the compose file: what they name exists, and they hold no surprise."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from adapter.cli import main, service
from adapter.config.loading import load_runtime
from adapter.config.rules import references
from tests.house.places import ROOT

DOCKER = ROOT / "docker"
_COMMANDS = {"coordinator": service._ENTRIES, "coordinatorctl": main._ENTRIES}
_PIN = re.compile(r"^([a-z0-9._-]+(?:\[[^\]]*\])?==\S+)", re.MULTILINE)


def _services() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]
    return services


def _own() -> dict[str, Any]:
    return {name: one for name, one in _services().items() if "build" in one}


def _instructions() -> list[tuple[str, str]]:
    text = (DOCKER / "Dockerfile").read_text().replace("\\\n", " ")
    return re.findall(r"^([A-Z]+) (.*)$", text, re.MULTILINE)


@pytest.mark.parametrize("name", _own())
def test_every_process_runs_a_command_that_exists(name: str) -> None:
    program, command = _own()[name]["command"][:2]
    assert command in _COMMANDS[program]


def test_the_image_serves_by_default() -> None:
    assert ("CMD", '["coordinator", "serve"]') in _instructions()


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
        where, _, options = place.partition(":")
        assert where == "/tmp"
        assert {"noexec", "nosuid", "nodev"} <= set(options.split(","))
        assert re.search(r"\bsize=\d+m\b", options)
        assert not [volume for volume in one["volumes"] if not volume.endswith(":ro")]


def test_what_is_installed_is_pinned_by_hash_and_nothing_else() -> None:
    installs = [rest for word, rest in _instructions() if word == "RUN" and "pip install" in rest]
    assert all("--no-deps" in install for install in installs)
    assert [one for one in installs if "--require-hashes" in one and "requirements.lock" in one]
    pinned = _PIN.findall((DOCKER / "requirements.lock").read_text())
    hashed = re.findall(r"--hash=sha256:[0-9a-f]{64}", (DOCKER / "requirements.lock").read_text())
    assert len(hashed) >= len(pinned)


def test_ports_are_open_to_this_host_only() -> None:
    ports = [port for one in _services().values() for port in one.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_there_is_one_api_and_there_are_two_workers() -> None:
    assert _services()["worker"]["deploy"]["replicas"] == 2
    assert "deploy" not in _services()["api"]


def test_a_process_waits_for_what_it_needs() -> None:
    for one in _own().values():
        assert set(one["depends_on"]) <= set(_services())
    assert set(_own()["worker"]["depends_on"]) == {"apply", "temporal"}


def test_the_runtime_file_is_sound_and_its_secrets_are_passed_on() -> None:
    runtime = load_runtime(DOCKER / "runtime.yaml")
    names = {secret.removeprefix("secret:env/") for _, secret in references(runtime.document)}
    for name, one in _own().items():
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
    values = [value for one in _own().values() for value in one["environment"].values()]
    assert set(re.findall(r"postgresql://(\w+):", " ".join(values))) == made


def test_every_variable_is_explained() -> None:
    compose = (DOCKER / "compose.yaml").read_text()
    required = set(re.findall(r"\$\{([A-Z_0-9]+):\?", compose))
    assert required
    assert required <= set(
        re.findall(r"^([A-Z_0-9]+)=", (DOCKER / "env.example").read_text(), re.M)
    )


def test_the_image_installs_versions_of_the_main_lock() -> None:
    image = set(_PIN.findall((DOCKER / "requirements.lock").read_text()))
    everything = set(_PIN.findall((ROOT / "requirements.lock").read_text()))
    assert image
    assert image < everything
