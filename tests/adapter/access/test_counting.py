"""Tests of what is counted for whom: buckets, and the address behind proxies."""

from __future__ import annotations

import pytest

from adapter.access.addresses import counted_address, networks_of
from adapter.access.buckets import MOST_BUCKETS, Buckets


def test_a_burst_is_granted_and_then_the_rate() -> None:
    now = [0.0]
    buckets = Buckets(2.0, 3, lambda: now[0])
    assert [buckets.take("a") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    now[0] = 0.5
    assert [buckets.take("a"), buckets.take("a")] == [0.0, 0.5]
    assert buckets.take("b") == 0.0


def test_what_is_refused_costs_nothing() -> None:
    now = [0.0]
    buckets = Buckets(1.0, 1, lambda: now[0])
    buckets.take("a")
    for _ in range(100):
        assert buckets.take("a") == 1.0
    now[0] = 1.0
    assert buckets.take("a") == 0.0


def test_the_longest_unseen_name_is_forgotten_first() -> None:
    buckets = Buckets(0.001, 1, lambda: 0.0)
    buckets.take("old")
    for number in range(MOST_BUCKETS):
        buckets.take(number)
    assert buckets.take(MOST_BUCKETS - 1) > 0
    assert buckets.take("old") == 0.0


@pytest.mark.parametrize(
    ("peer", "forwarded", "counted"),
    [
        ("192.0.2.1", [], "192.0.2.1"),
        ("192.0.2.1", ["198.51.100.7"], "192.0.2.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["1.1.1.1, 198.51.100.7", "10.0.0.2"], "198.51.100.7"),
        ("10.0.0.1", ["1.1.1.1, 198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["invented"], "10.0.0.1"),
        ("::ffff:10.0.0.1", ["198.51.100.7"], "198.51.100.7"),
        ("2001:db8:1:2:3::9", [], "2001:db8:1:2::/64"),
        ("", ["198.51.100.7"], ""),
    ],
)
def test_forwarded_addresses_count_as_far_as_their_writers_are_trusted(
    peer: str, forwarded: list[str], counted: str
) -> None:
    assert counted_address(peer, forwarded, networks_of(["10.0.0.0/8"])) == counted
