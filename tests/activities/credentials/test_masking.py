"""A secret shows itself to nobody who does not ask for it by name."""

from __future__ import annotations

import copy
import logging
import pickle

import pytest

from activities.credentials import BearerToken, CredentialUnavailable, Secret
from activities.credentials.authorization import Anonymous
from activities.errors import ConnectionFault


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


async def test_a_bearer_is_read_at_every_attempt() -> None:
    tokens = iter(["one", "two"])
    bearer = BearerToken(lambda: next(tokens), "crm")
    headers = [await bearer.header(), await bearer.header()]
    assert [header.reveal() for header in headers if header] == ["Bearer one", "Bearer two"]


async def test_an_anonymous_connection_has_no_header() -> None:
    assert await Anonymous().header() is None


@pytest.mark.parametrize("token", ["", "two words", "line\n", "ä"])
async def test_a_token_that_no_header_can_carry_is_unavailable(token: str) -> None:
    with pytest.raises(CredentialUnavailable) as caught:
        await BearerToken(lambda: token, "crm").header()
    assert (caught.value.code, caught.value.place) == ("connection.credential", "crm")


async def test_a_token_that_can_not_be_read_is_unavailable() -> None:
    def absent() -> str:
        raise ConnectionFault("secret.absent", "no", remedy="set it")

    with pytest.raises(CredentialUnavailable) as caught:
        await BearerToken(absent, "crm").header()
    assert caught.value.remedy == "set it"
