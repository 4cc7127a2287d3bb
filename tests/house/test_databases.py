"""The databases that tests are given: fresh, and gone afterwards."""

from __future__ import annotations

import psycopg
import pytest


@pytest.mark.parametrize("attempt", [1, 2])
def test_every_test_gets_a_fresh_database(owner_url: str, attempt: int) -> None:
    with psycopg.connect(owner_url) as connection:
        connection.execute("create table mark (attempt int)")
        connection.execute("insert into mark values (%s)", [attempt])
        assert connection.execute("select * from mark").fetchall() == [(attempt,)]


def test_an_empty_database_has_no_table(empty_database_url: str) -> None:
    with psycopg.connect(empty_database_url) as connection:
        tables = "select count(*) from pg_class where relnamespace = 'public'::regnamespace"
        assert connection.execute(tables).fetchone() == (0,)
