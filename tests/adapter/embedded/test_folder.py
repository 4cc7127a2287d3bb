"""The state folder and the ports: one owner at a time, and clear words for the second."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from adapter.embedded import EmbeddedError, StateFolder, free_port, require_port


def test_a_second_owner_is_told_who_the_first_is(tmp_path: Path) -> None:
    with StateFolder(tmp_path / "state"):
        with pytest.raises(EmbeddedError, match=f"process {os.getpid()} ") as caught:
            StateFolder(tmp_path / "state").acquire()
        assert caught.value.code == "embedded.in-use"
        assert caught.value.place == str(tmp_path / "state")
    StateFolder(tmp_path / "state").acquire()


def test_a_crashed_owner_is_taken_over(tmp_path: Path) -> None:
    code = "import os; from pathlib import Path; from adapter.embedded import StateFolder\n"
    code += f"StateFolder(Path({str(tmp_path)!r})).acquire(); os.kill(os.getpid(), 9)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    assert (tmp_path / "lock").read_text() != ""
    with StateFolder(tmp_path):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


def test_a_folder_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EmbeddedError, match="file") as caught:
        StateFolder(tmp_path / "file" / "state").acquire()
    assert caught.value.code == "embedded.directory-unusable"
    assert caught.value.place == str(tmp_path / "file" / "state")


def test_a_taken_port_gives_another_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert free_port(preferred=port) != port
        with pytest.raises(EmbeddedError, match="for the API") as caught:
            require_port(port, "the API")
    assert (caught.value.code, caught.value.place) == ("embedded.port-taken", f"127.0.0.1:{port}")
    assert free_port(preferred=port) == port


def test_a_port_that_does_not_exist_is_refused() -> None:
    with pytest.raises(EmbeddedError):
        require_port(70000, "the API")
