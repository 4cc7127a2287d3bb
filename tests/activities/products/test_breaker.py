"""When local attempts pause, and when they come back."""

from __future__ import annotations

from activities.products.breaker import FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, Breaker


class _Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def _fail(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        breaker.record("crm", 0.01, answered=False)


def test_a_connection_without_history_is_local() -> None:
    assert Breaker().allows_local("crm")


def test_two_bad_exchanges_are_forgiven_and_three_are_not() -> None:
    breaker = Breaker(_Clock())
    _fail(breaker, 2)
    assert breaker.allows_local("crm")
    _fail(breaker, 1)
    assert not breaker.allows_local("crm")
    assert breaker.allows_local("other")


def test_slow_answers_count_as_bad() -> None:
    breaker = Breaker(_Clock())
    for _ in range(3):
        breaker.record("crm", 0.6, answered=True)
    assert not breaker.allows_local("crm")


def test_a_good_exchange_forgets_everything() -> None:
    breaker = Breaker(_Clock())
    _fail(breaker, 3)
    breaker.record("crm", 0.01, answered=True)
    assert breaker.allows_local("crm")
    _fail(breaker, 2)
    assert breaker.allows_local("crm")


def test_a_pause_ends_and_doubles_when_the_product_is_still_down() -> None:
    clock = _Clock()
    breaker = Breaker(clock)
    _fail(breaker, 3)
    clock.now += FIRST_PAUSE_SECONDS
    assert breaker.allows_local("crm")
    _fail(breaker, 1)
    clock.now += FIRST_PAUSE_SECONDS
    assert not breaker.allows_local("crm")
    clock.now += FIRST_PAUSE_SECONDS
    assert breaker.allows_local("crm")


def test_failures_of_one_outage_in_flight_together_are_one_pause() -> None:
    clock = _Clock()
    breaker = Breaker(clock)
    _fail(breaker, 60)
    clock.now += FIRST_PAUSE_SECONDS
    assert breaker.allows_local("crm")


def test_no_pause_is_longer_than_a_minute() -> None:
    clock = _Clock()
    breaker = Breaker(clock)
    _fail(breaker, 3)
    for _ in range(10):
        clock.now += LONGEST_PAUSE_SECONDS
        assert breaker.allows_local("crm")
        _fail(breaker, 1)
    assert not breaker.allows_local("crm")
