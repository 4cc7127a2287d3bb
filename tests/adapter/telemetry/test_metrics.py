"""The metrics endpoint: its address, and what it shows of a process."""

from __future__ import annotations

import re
import socket
import urllib.request
from collections.abc import Iterator

import pytest

from adapter.embedded import free_port
from adapter.errors import Unavailable
from adapter.telemetry.meters import Meters, open_endpoint


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def _scraped(address: str) -> set[tuple[str, frozenset[str], str]]:
    """Every sample as its name, its labels and its number."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
        text: str = answer.read().decode()
    samples = re.findall(r"^(\w+)\{(.*)\} (\S+)$", text, re.MULTILINE)
    return {(name, frozenset(labels.split(",")), number) for name, labels, number in samples}


def _sample(name: str, number: str, **labels: str) -> tuple[str, frozenset[str], str]:
    given = {**labels, "deployment": "town"}
    return name, frozenset(f'{label}="{value}"' for label, value in given.items()), number


def test_numbers_are_shown_under_names_and_classes() -> None:
    runtime, address = open_endpoint(f"127.0.0.1:{free_port()}", "town", 1)
    meters = Meters(runtime)
    meters.effect("some.send/v1", "accepted")
    meters.admitted(0.02)
    meters.stand({"running": 3, "attention": 0}, {"unknown-effects": 1})
    assert _scraped(address) >= {
        _sample(
            "coordinator_effects_total", "1", operation="some.send/v1", **{"class": "accepted"}
        ),
        _sample("coordinator_runs", "3", state="running"),
        _sample("coordinator_ledger", "1", what="unknown-effects"),
        _sample("coordinator_admission_seconds_bucket", "1", le="0.025"),
    }


def test_the_service_wants_the_very_port_that_was_named(taken: int) -> None:
    with pytest.raises(Unavailable) as caught:
        open_endpoint(f"127.0.0.1:{taken}", "town", 1)
    assert caught.value.code == "telemetry.bind-unusable"


def test_a_worker_takes_the_next_port_of_a_shared_host(taken: int) -> None:
    _, address = open_endpoint(f"127.0.0.1:{taken}", "town", 64)
    assert taken < int(address.rpartition(":")[2]) < taken + 64


def test_a_name_is_no_address_to_listen_on() -> None:
    with pytest.raises(Unavailable, match=r"can not be shown"):
        open_endpoint("no-such-host.invalid:9464", "town", 2)
