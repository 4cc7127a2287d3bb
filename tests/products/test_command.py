"""The command that serves the pretend products: its state, its end and its refusals."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from examples.products.client import PretendProducts

ROOT = Path(__file__).parents[2]
HEADERS = {"authorization": "Bearer pretend-products", "idempotency-key": "key-1"}
BODY = {"subject": {"id": "APP-1001"}}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "examples.products", *arguments]


@contextmanager
def serving(state: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command with its state in a folder; the process and its address."""
    arguments = command("--state", str(state))
    with subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().split(": ")[1].strip()
        finally:
            process.kill()


def submit(address: str) -> httpx.Response:
    return httpx.post(f"{address}/casework/v1/review-requests", json=BODY, headers=HEADERS)


def test_a_killed_process_has_kept_keys_effects_and_reviews(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, address):
        first = submit(address)
        process.send_signal(signal.SIGKILL)
    with serving(tmp_path) as (_, address), PretendProducts(address) as products:
        again = submit(address)
        assert again.json() == first.json()
        assert again.headers["idempotency-replayed"] == "true"
        assert [effect.applied for effect in products.effects()] == [1]
        assert len(products.reviews("pending")) == 1


def test_seed_data_does_not_undo_a_change_on_restart(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, address), PretendProducts(address) as products:
        products.put_record("applications", "APP-1001", {"status": "changed"})
        products.remove_record("applications", "APP-1002")
    with serving(tmp_path) as (_, address):
        records = f"{address}/registry/v1/records/applications"
        profile = {"accessProfile": "x"}
        kept = httpx.get(f"{records}/APP-1001", params=profile, headers=HEADERS).json()
        gone = httpx.get(f"{records}/APP-1002", params=profile, headers=HEADERS)
    assert kept["data"]["domainData"] == {"status": "changed"}
    assert gone.status_code == 404


def test_an_interrupt_ends_it_without_a_traceback(tmp_path: Path) -> None:
    arguments = command("--state", str(tmp_path))
    with subprocess.Popen(
        arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        httpx.get(f"{process.stdout.readline().split(': ')[1].strip()}/health")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=10)
    assert (process.returncode, said) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "exit_code", "place"),
    [
        (("--port", "70000"), 2, "--port"),
        (("--port", "many"), 2, "--port"),
        (("--oauth", "/nowhere.json"), 2, "/nowhere.json"),
        (("--webhook-url", "http://127.0.0.1:1/"), 2, "--webhook-url"),
        (("--state", "/dev/null/x"), 3, "--state"),
    ],
)
def test_a_wrong_flag_is_refused_with_its_name(
    arguments: tuple[str, ...], exit_code: int, place: str
) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PRODUCTS_")}
    ended = subprocess.run(
        command(*arguments),
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert ended.returncode == exit_code
    assert place in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_taken_port_is_refused_with_its_number() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = subprocess.run(
            command("--port", port),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    assert ended.returncode == 3
    assert port in ended.stderr
    assert "Traceback" not in ended.stderr
