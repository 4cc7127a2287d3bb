"""Files that are not what a command needs: one clear error each, and never a wait."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import yaml

from adapter.cli.runs import read_input
from adapter.cli.service_client import ServiceClient
from adapter.config.json_text import BadJson, strict_json
from adapter.errors import Usage
from tests.adapter.cli.conftest import Run

_KINDS = ["absent", "folder", "pipe", "dangling"]


def _place(path: Path, kind: str) -> Path:
    """Put something there that is no file."""
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "dangling":
        path.symlink_to(path.parent / "nowhere")
    return path


@pytest.mark.parametrize("kind", _KINDS)
def test_an_input_that_is_no_file_is_refused_without_waiting(tmp_path: Path, kind: str) -> None:
    path = _place(tmp_path / "input.json", kind)
    with pytest.raises(Usage) as raised:
        read_input(str(path))
    assert (raised.value.code, raised.value.place) == ("input.unreadable", str(path))
    assert raised.value.remedy


@pytest.mark.parametrize(
    ("data", "code", "place"),
    [
        (b"", "input.invalid-json", ":1:1"),
        (b'{"a": 1,\n "b": }', "input.invalid-json", ":2:7"),
        (b'{"a": 1, "a": 2}', "input.invalid-json", ":1:10"),
        (b'{"b": [{"a": ",", "c": {}}],\n  "\\u0062": 2}', "input.invalid-json", ":2:3"),
        (b'{"a": [1, NaN]}', "input.invalid-json", ":1:11"),
        (b"1" * 5_000, "input.invalid-json", ":1:1"),
        (b"NaN", "input.invalid-json", ":1:1"),
        (b'{"a":\n"\xff"}', "input.invalid-json", ":2:2"),
        (b"[" * 258 + b"]" * 258, "input.invalid-json", ":1:1"),
        (b"[" * 30_000 + b"]" * 30_000, "input.invalid-json", ":1:1"),
        (b'"' + b"x" * 1_000_000 + b'"', "input.too-large", ""),
    ],
)
def test_an_input_that_is_no_json_is_placed(
    tmp_path: Path, data: bytes, code: str, place: str
) -> None:
    path = tmp_path / "input.json"
    path.write_bytes(data)
    with pytest.raises(Usage) as raised:
        read_input(str(path))
    assert (raised.value.code, raised.value.place) == (code, f"{path}{place}")
    assert raised.value.remedy


def test_an_input_may_have_windows_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "input.json"
    path.write_bytes(b'\xef\xbb\xbf{\r\n"a": 1}\r\n')
    assert read_input(str(path)) == {"a": 1}
    linked = tmp_path / "linked.json"
    linked.symlink_to(path)
    assert read_input(str(linked)) == {"a": 1}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        *((f"{command} nowhere", 3) for command in ("check", "test", "explain", "graph", "dev")),
        ("diff nowhere nowhere", 3),
        ("package nowhere --output x", 3),
        ("plan --runtime {sound} --package nowhere", 3),
        ("apply --runtime {sound} --package nowhere", 3),
        ("plan --runtime nowhere --package nowhere", 2),
        ("start --workflow a --input nowhere", 2),
        (f"signal --run {UUID(int=1)} --name a --payload nowhere", 2),
        ("list --credential nowhere", 2),
    ],
)
def test_what_is_not_there_has_the_exit_code_of_the_document(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, code: int
) -> None:
    monkeypatch.chdir(tmp_path)
    sound = tmp_path / "runtime.yaml"
    sound.write_text(yaml.safe_dump(_runtime(tmp_path) | {"catalogue": []}))
    said = run(*line.format(sound=sound).split())
    assert (said.code, said.err.startswith("error[")) == (code, True)


def test_a_value_never_stands_in_a_message_about_json() -> None:
    with pytest.raises(BadJson) as raised:
        strict_json(b'{"hunter2": hunter2}')
    assert "hunter2" not in str(raised.value)


def _key(path: Path) -> str:
    client = ServiceClient.find(None, "http://127.0.0.1:1", path, {})
    return client.credential.headers()["X-API-Key"]


@pytest.mark.parametrize("kind", _KINDS)
def test_a_key_file_that_is_no_file_is_refused_without_waiting(tmp_path: Path, kind: str) -> None:
    path = _place(tmp_path / "key", kind)
    with pytest.raises(Usage) as raised:
        _key(path)
    assert (raised.value.code, raised.value.place) == ("credential.unreadable", str(path))
    assert raised.value.remedy


@pytest.mark.parametrize("data", [b"", b"\n\n", b"a\nb\n", b"\xff\xfe", b"a\tb", b"x" * 5_000])
def test_a_file_without_a_key_is_refused_without_showing_it(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "key"
    path.write_bytes(data)
    with pytest.raises(Usage) as raised:
        _key(path)
    assert raised.value.code == "credential.malformed"
    assert "xxx" not in str(raised.value)


def test_a_key_may_end_with_a_line_end_of_any_kind(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_bytes(b"secret-key\r\n")
    assert _key(path) == "secret-key"


def _runtime(folder: Path) -> dict[str, Any]:
    return {
        "apiVersion": "coordinator/v1",
        "kind": "CoordinatorRuntime",
        "deployment": "town-hall",
        "mode": "development",
        "secrets": {"fileRoot": "secrets"},
        "temporal": {"address": "127.0.0.1:7233"},
        "database": {"url": "secret:file/database", "migrationUrl": "secret:file/database"},
        "keys": {
            "admission": {"active": 1, "versions": {"1": "secret:file/admission"}},
            "state": {"active": 1, "versions": {"1": "secret:file/state"}},
        },
        "api": {"bind": "127.0.0.1:8300", "publicUrl": "http://127.0.0.1:8300"},
        "catalogue": ["ours.yaml"],
    }


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"[" * 1_000_000, "yaml.too-deep"),
        (b"a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "yaml.anchor"),
        (b"a: " + b"x" * 1_100_000, "yaml.too-large"),
        (b"a: \xff", "yaml.not-utf8"),
        (b"a: 1", "catalogue.missing-member"),
    ],
)
def test_a_catalogue_document_is_refused_with_its_place(
    run: Run, tmp_path: Path, data: bytes, code: str
) -> None:
    (tmp_path / "runtime.yaml").write_text(yaml.safe_dump(_runtime(tmp_path)))
    (tmp_path / "ours.yaml").write_bytes(data)
    said = run("check", "--runtime", str(tmp_path / "runtime.yaml"))
    assert said.code in (1, 2)
    assert said.err.startswith(f"error[{code}]: {tmp_path / 'ours.yaml'}:1")
    assert "remedy: " in said.err


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_a_catalogue_document_that_is_no_file_is_refused(
    run: Run, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "runtime.yaml").write_text(yaml.safe_dump(_runtime(tmp_path)))
    _place(tmp_path / "ours.yaml", kind)
    said = run("check", "--runtime", str(tmp_path / "runtime.yaml"))
    assert said.code == 1
    assert said.err.startswith("error[config.file-absent]")
