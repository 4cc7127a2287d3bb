"""Every authored file against hostile bytes: bounded time, one code, a place, a remedy."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from activities.catalogue import Catalogue, CatalogueRefused
from adapter.authoring.proof import prove_project, prove_runtime
from tests.adapter.authoring.projects import DONE, load, project

_SCENARIOS = """\
apiVersion: coordinator/v1
kind: CoordinatorScenarios
cases:
  - id: one
    admittedAt: "2026-03-01T08:00:00Z"
    input: {id: a}
    replies: {}
    expect: {path: [done], state: finished}
"""
_RUNTIME = (
    "apiVersion: id.registrystack.org/formats/coordinator/runtime/v1alpha1\n"
    "kind: CoordinatorRuntimeConfig\n"
)
_CATALOGUE = (
    "apiVersion: coordinator/v1\nkind: CoordinatorCatalogue\nproduct: crm\noperations: {}\n"
)

_BOMB = "a: &a [x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in pairwise("abcdefghi")
)
_HOSTILE = {
    "bomb": (_BOMB.encode(), {"yaml.anchor", "yaml.alias"}),
    "brackets": (b"x: " + b"[" * 900_000, {"yaml.too-deep"}),
    "braces": (b"x: " + b"{a: " * 250_000, {"yaml.too-deep"}),
    "dashes": (b"- " * 500_000, {"yaml.syntax", "yaml.too-deep"}),
    "long text": (b"x: " + b"y" * 1_000_000, {"config.unknown-key", "catalogue.unknown-member"}),
    "long key": (b"y" * 1_000 + b": 1", {"config.unknown-key", "catalogue.unknown-member"}),
    "many keys": (
        b"".join(b"k%d: 1\n" % n for n in range(80_000)),
        {"config.unknown-key", "catalogue.unknown-member"},
    ),
    "too large": (b"# " + b"y" * 1_100_000, {"yaml.too-large"}),
    "not utf-8": (b"x: \xc3\x28", {"yaml.not-utf8"}),
    "utf-16": ("x: 1".encode("utf-16"), {"yaml.not-utf8"}),
    "nul": (b"x: \x00", {"yaml.control-character"}),
}

Codes = dict[str, tuple[int, str]]


def _of_proof(folder: Path, name: str, data: bytes) -> Codes:
    load(folder, project({"done": DONE}, operations={}, connections={}, functionsFile=None))
    (folder / "functions.rhai").unlink()
    start = (folder / name).read_bytes() if name == "workflow.yaml" else _SCENARIOS.encode()
    if name == "runtime.yaml":
        start = _RUNTIME.encode()
    elif name == "workflow.yaml":
        start = b"apiVersion: coordinator/v1\nkind: CoordinatorProject\n"
    (folder / name).write_bytes(start + data)
    found = prove_project(folder, Catalogue.standard()).diagnostics
    return {one.code: (one.spot.line, one.remedy) for one in found if one.spot.file == name}


def _of_catalogue(folder: Path, name: str, data: bytes) -> Codes:
    with pytest.raises(CatalogueRefused) as caught:
        Catalogue.with_documents({name: _CATALOGUE.encode() + data})
    return {
        one.code: (int(one.place.split(":")[1].split(" ")[0]), one.remedy)
        for one in caught.value.mistakes
    }


_READERS: dict[str, Callable[[Path, str, bytes], Codes]] = {
    "workflow.yaml": _of_proof,
    "scenarios.yaml": _of_proof,
    "runtime.yaml": _of_proof,
    "catalogue.yaml": _of_catalogue,
}


@pytest.mark.parametrize("kind", _HOSTILE)
@pytest.mark.parametrize("name", _READERS)
def test_hostile_bytes_are_refused_soon_by_code_place_and_remedy(
    tmp_path: Path, name: str, kind: str
) -> None:
    data, codes = _HOSTILE[kind]
    begun = time.process_time()
    found = _READERS[name](tmp_path, name, data)
    assert time.process_time() - begun < 10
    assert codes & set(found), sorted(found)
    assert all(line >= 1 and remedy for line, remedy in found.values())


@pytest.mark.parametrize("name", ["workflow.yaml", "scenarios.yaml"])
def test_line_ends_and_a_byte_order_mark_change_no_verdict(tmp_path: Path, name: str) -> None:
    load(tmp_path, project({"done": DONE}, operations={}, connections={}))
    (tmp_path / "functions.rhai").write_text("")
    (tmp_path / "scenarios.yaml").write_text(_SCENARIOS)
    plain = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n"))
    assert prove_project(tmp_path, Catalogue.standard()).diagnostics == ()


def test_a_runtime_file_may_have_windows_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    folder = Path(__file__).parent / "public" / "late-reminder"
    text = (folder / "runtime.yaml").read_bytes().replace(b"\n", b"\r\n")
    (tmp_path / "runtime.yaml").write_bytes(b"\xef\xbb\xbf" + text)
    assert prove_runtime(tmp_path / "runtime.yaml").diagnostics == ()
