"""A secret shows itself to nobody who does not ask for it by name."""

from __future__ import annotations

import copy
import logging
import pickle

import pytest

from activities.credentials import Secret


def test_no_way_of_writing_shows_the_text() -> None:
    secret = Secret("hunter2")
    shown = f"{secret} {secret!r} {secret!s} {secret:>20} {[secret]} {vars_of(secret)}"
    assert "hunter2" not in shown
    assert "hunter2" not in "%s" % secret  # noqa: UP031 - logging formats this way


def vars_of(value: object) -> str:
    """What a debugger would print of an object's attributes."""
    return str(getattr(value, "__dict__", ""))


def test_a_log_line_shows_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("test").warning("credential %s", Secret("hunter2"))
    assert "hunter2" not in caplog.text


def test_a_secret_is_not_serialised() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(Secret("hunter2"))
    with pytest.raises(TypeError):
        copy.copy(Secret("hunter2"))


def test_secrets_are_equal_by_text() -> None:
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a")}) == 1
