"""Tests of `adapter.listening`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from adapter.errors import Unavailable
from adapter.listening import listen, listen_on_loopback


def test_a_taken_address_is_said_with_the_code_of_whoever_asked() -> None:
    with listen_on_loopback(0, code="issuer.port-taken") as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Unavailable) as refusal:
            listen("127.0.0.1", port, code="api.bind-taken", place="/api/bind")
    assert (refusal.value.code, refusal.value.place) == ("api.bind-taken", "/api/bind")


def test_an_address_of_version_six_is_listened_on() -> None:
    with listen("::1", 0, code="api.bind-taken", place="/api/bind") as listener:
        assert listener.getsockname()[0] == "::1"


def test_a_program_says_where_it_can_not_listen_and_what_helps(tmp_path: Path) -> None:
    with listen_on_loopback(0, code="api.bind-taken") as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "adapter.issuer", "--folder", str(tmp_path)]
        command += ["--port", str(port)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    said, remedy = done.stderr.splitlines()
    assert done.returncode == 3
    assert said.startswith(f"error[issuer.port-taken]: 127.0.0.1:{port}: ")
    assert remedy.startswith("  remedy: ")
