"""The project's own files: metadata, lock, wheel, commands of the Makefile."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.house.places import PACKAGES, ROOT, python_files, text_files, tree

_INDEX_HOSTS = tuple(".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org")))
# Where the name to import is not the name to install, or comes with another package.
_INSTALLED_AS = {
    "yaml": "pyyaml",
    "jwt": "pyjwt",
    "starlette": "fastapi",
    "opentelemetry": "opentelemetry-api",
    "opentelemetry.exporter": "opentelemetry-exporter-otlp-proto-http",
    "opentelemetry.sdk": "opentelemetry-sdk",
}
# What jsonschema imports for us, to check formats.
_FORMATS = {
    "fqdn",
    "jsonpointer",
    "rfc3339-validator",
    "rfc3986-validator",
    "uri-template",
}
_TEXT = {".py", ".md", ".toml", ".lock", ".yaml", ".yml", ".json", ".sql", ".rhai", ".txt", ""}


def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def _name(requirement: str) -> str:
    return re.split(r"[\[<>=!~; ]", requirement, maxsplit=1)[0].lower()


def _imported() -> set[str]:
    """The packages from outside that the three packages import, by the name to install."""
    found: set[str] = set()
    for path in python_files(*PACKAGES):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module)
    ours = {*PACKAGES, *sys.stdlib_module_names}
    return {_installed_as(name) for name in found if name.split(".")[0] not in ours}


def _installed_as(module: str) -> str:
    top, _, rest = module.partition(".")
    longer = f"{top}.{rest.partition('.')[0]}"
    return _INSTALLED_AS.get(longer) or _INSTALLED_AS.get(top) or top.replace("_", "-")


def test_what_is_imported_is_what_is_declared() -> None:
    declared = {_name(one) for one in _project()["project"]["dependencies"]}
    assert _imported() | _FORMATS == declared


def test_no_text_names_a_package_index() -> None:
    naming = [
        str(path)
        for path in text_files()
        if path.suffix in _TEXT
        and any(host in (ROOT / path).read_text(errors="replace") for host in _INDEX_HOSTS)
    ]
    assert naming == []


def test_every_dependency_is_locked_with_a_hash() -> None:
    project = _project()
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    wanted += project["project"]["optional-dependencies"]["embedded"]
    lock = (ROOT / "requirements.lock").read_text()
    locked = dict(re.findall(r"^([a-z0-9._-]+)(?:\[[^\]]*\])?==(\S+).*\\\n    --hash", lock, re.M))
    assert [name for name in map(_name, wanted) if name not in locked] == []


def test_the_build_backend_is_the_locked_one() -> None:
    project = _project()
    assert set(project["build-system"]["requires"]) <= set(project["dependency-groups"]["dev"])


def test_the_wheel_holds_the_three_packages_and_their_data(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert {name.split("/")[0] for name in names} == set(PACKAGES)
    data = {str(path) for path in text_files() if path.parts[0] in PACKAGES}
    assert data <= names
    assert {str(path) for path in python_files(*PACKAGES)} <= names


def test_a_package_room_would_compile_offline_too() -> None:
    contracts = {one["id"]: one for one in _project()["tool"]["importlinter"]["contracts"]}
    rooms = {"adapter.authoring", "adapter.package"}
    there = {room for room in rooms if (ROOT / room.replace(".", "/") / "__init__.py").exists()}
    assert there <= set(contracts["offline"]["source_modules"])


def test_every_target_says_what_it_does() -> None:
    makefile = (ROOT / "Makefile").read_text()
    (phony,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.M)
    assert set(re.findall(r"^([a-z]+):.*## ", makefile, re.M)) == set(phony.split())


@pytest.mark.parametrize("python", ["/no/such/python", "/bin/false"])
def test_an_unusable_python_is_a_clear_error(tmp_path: Path, python: str) -> None:
    command = ["make", "install", f"PYTHON={python}", f"VENV={tmp_path / 'venv'}"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert made.returncode == 2
    assert f"error: {python} is no Python 3.11 or newer" in made.stderr
    assert not (tmp_path / "venv").exists()


def test_every_place_knows_the_same_python_versions() -> None:
    project = _project()
    named = re.findall(r"Python :: (3\.\d+)", " ".join(project["project"]["classifiers"]))
    tried = re.findall(r"^\| (3\.\d+)\.\d+ \| yes", (ROOT / "CONTRIBUTING.md").read_text(), re.M)
    assert named == tried
    least = named[0]
    makefile = (ROOT / "Makefile").read_text()
    assert project["project"]["requires-python"] == f">={least}"
    assert project["tool"]["mypy"]["python_version"] == least
    assert project["tool"]["ruff"]["target-version"] == f"py{least.replace('.', '')}"
    assert f"--python-version {least} " in makefile
    assert re.findall(r" python(3\.\d+)", makefile)[: len(named)] == named[::-1]


def test_the_ci_script_can_be_run() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_every_code_of_the_embedded_servers_is_explained() -> None:
    code = (ROOT / "adapter" / "embedded" / "errors.py").read_text()
    codes = set(re.findall(r"\bembedded\.[a-z-]+", code.split('"""')[1]))
    explained = set(
        re.findall(r"\bembedded\.[a-z-]+", (ROOT / "docs/embedded-servers.md").read_text())
    )
    raised = {
        found
        for path in python_files("adapter/embedded")
        for found in re.findall(r'"(embedded\.[a-z-]+)"', (ROOT / path).read_text())
    }
    assert codes == explained == raised
