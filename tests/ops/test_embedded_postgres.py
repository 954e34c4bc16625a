from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

from pgrecall.embedded import EmbeddedPostgres
from pgrecall.errors import DatabaseError, DiskFull, NotAStateFolder, StateFolderError, WrongMajor
from pgrecall.state_folder import StateFolder
from pgrecall.system_user import let_read, postgres_user
from tests.conftest import Database
from tests.ops.processes import ROOT, fill, small_disk, wait_for

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs Postgres as another user")


@asynccontextmanager
async def started(folder: Path, *, major: int = 18) -> AsyncIterator[EmbeddedPostgres]:
    """With the settings of real use: what is committed must be on the disk."""
    state = StateFolder(folder)
    with state.claim():
        postgres = EmbeddedPostgres(state, major=major)
        await postgres.start()
        try:
            yield postgres
        finally:
            await postgres.stop()


async def run(postgres: EmbeddedPostgres, statement: str) -> object:
    connection = await asyncpg.connect(postgres.app_dsn)
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


async def test_the_app_role_owns_the_memory_database_and_is_no_superuser(
    server: EmbeddedPostgres,
) -> None:
    connection = await asyncpg.connect(server.app_dsn)
    row = await connection.fetchrow(
        "SELECT rolsuper, rolcreaterole, rolcreatedb, rolname = current_user AS owner FROM pg_roles"
        " JOIN pg_database ON datdba = pg_roles.oid WHERE datname = current_database()"
    )
    await connection.close()
    assert row is not None
    assert dict(row) == {
        "rolsuper": False,
        "rolcreaterole": True,
        "rolcreatedb": False,
        "owner": True,
    }


@pytest.mark.parametrize("user", ["postgres", "pgrecall"])
async def test_nobody_enters_through_the_socket_without_the_password(
    server: EmbeddedPostgres, user: str
) -> None:
    for password in ("", "wrong", user):
        with pytest.raises(asyncpg.InvalidPasswordError):
            await asyncpg.connect(server.dsn(user, password))


async def test_the_server_listens_on_no_network_address(server: EmbeddedPostgres) -> None:
    assert await run(server, "SHOW listen_addresses") == ""


async def test_words_end_at_quotes_and_dashes_of_any_alphabet(server: EmbeddedPostgres) -> None:
    words = await run(server, "SELECT to_tsvector('simple', '«деплой»—биллинг')::text")
    assert words == "'биллинг':2 'деплой':1"


async def test_a_clone_of_the_extension_database_has_vectors(empty_database: Database) -> None:
    connection = await asyncpg.connect(empty_database.dsn)
    distance = await connection.fetchval("SELECT '[1,0]'::vector <=> '[1,0]'::vector")
    await connection.close()
    assert distance == 0.0


async def test_every_file_of_the_state_folder_is_private(temporary_folder: Path) -> None:
    folder = temporary_folder / "state"
    async with started(folder):
        exposed = [
            path
            for path in (folder, *folder.iterdir(), *(folder / "postgres").iterdir())
            if stat.S_IMODE(path.lstat().st_mode) & 0o077 and not path.is_socket()
        ]
        assert exposed == []
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


async def test_secrets_of_another_database_are_told_from_a_fault(temporary_folder: Path) -> None:
    folder = temporary_folder / "state"
    async with started(folder):
        pass
    (folder / "secrets.json").unlink()
    with pytest.raises(DatabaseError, match=r"secrets\.json in .* is not the one of its database"):
        async with started(folder):
            pass


@root_only
def test_programs_that_a_strict_umask_kept_for_root_are_opened_for_reading(
    temporary_folder: Path,
) -> None:
    program, note = temporary_folder / "bin" / "postgres", temporary_folder / "share" / "note"
    for file in (program, note):
        file.parent.mkdir(mode=0o700)
        file.touch(mode=0o600)
    program.chmod(0o700)
    let_read(temporary_folder, postgres_user())
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (program.parent, program, note)]
    assert modes == [0o705, 0o705, 0o604]


@root_only
async def test_root_opens_folders_on_the_way_for_passing_through_only(
    temporary_folder: Path,
) -> None:
    private = temporary_folder / "private"
    private.mkdir(mode=0o700)
    async with started(private / "state"):
        assert stat.S_IMODE(private.stat().st_mode) == 0o701


async def test_a_path_too_long_for_a_socket_gets_a_short_private_one(
    temporary_folder: Path,
) -> None:
    async with started(temporary_folder / ("long" * 25) / "state") as postgres:
        assert len(os.fsencode(postgres.socket_folder)) < 60
        assert stat.S_IMODE(postgres.socket_folder.stat().st_mode) == 0o700
        assert await run(postgres, "SELECT 1") == 1
    assert not postgres.socket_folder.exists()


async def test_a_folder_of_other_files_is_left_alone(temporary_folder: Path) -> None:
    (temporary_folder / "thesis.doc").touch()
    before = temporary_folder.stat()
    with pytest.raises(NotAStateFolder):
        async with started(temporary_folder):
            pass
    after = temporary_folder.stat()
    assert (after.st_mode, after.st_uid) == (before.st_mode, before.st_uid)


async def test_a_killed_postmaster_starts_again_with_all_that_was_committed(
    temporary_folder: Path,
) -> None:
    async with started(temporary_folder / "state") as postgres:
        await run(postgres, "CREATE TABLE kept AS SELECT 1 AS one")
        idle = await asyncpg.connect(postgres.app_dsn)  # its backend outlives the postmaster
        assert postgres.pid is not None
        os.kill(postgres.pid, signal.SIGKILL)
        await postgres.wait()
        await postgres.start()
        assert await run(postgres, "SELECT one FROM kept") == 1
        idle.terminate()


_HOLDER = """
import asyncio, sys
from pathlib import Path
from pgrecall.embedded import EmbeddedPostgres
from pgrecall.state_folder import StateFolder

async def hold() -> None:
    state = StateFolder(Path(sys.argv[1]))
    with state.claim():
        await EmbeddedPostgres(state).start()
        Path(sys.argv[2]).touch()
        await asyncio.Event().wait()

asyncio.run(hold())
"""


async def test_the_postgres_that_a_killed_process_left_behind_is_stopped_first(
    temporary_folder: Path,
) -> None:
    folder, flag = temporary_folder / "state", temporary_folder / "started"
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, folder, flag], env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    wait_for(flag.exists)
    orphan = int((folder / "postgres" / "postmaster.pid").read_text().splitlines()[0])
    holder.kill()
    holder.wait()
    os.kill(orphan, 0)  # it runs on
    async with started(folder) as postgres:
        assert postgres.pid != orphan
        with pytest.raises(ProcessLookupError):
            os.kill(orphan, 0)
        assert await run(postgres, "SELECT 1") == 1


async def test_a_stale_pid_file_whose_number_went_to_a_stranger_does_not_matter(
    temporary_folder: Path,
) -> None:
    folder = temporary_folder / "state"
    async with started(folder):
        pass
    stale = [os.getpid(), folder / "postgres", 1, 5432, folder / "run", "", "1 1", "ready"]
    (folder / "postgres" / "postmaster.pid").write_text("\n".join(map(str, stale)) + "\n")
    async with started(folder) as postgres:
        assert await run(postgres, "SELECT 1") == 1


async def test_a_data_folder_of_another_major_is_refused_and_left_as_it_was(
    temporary_folder: Path,
) -> None:
    folder = temporary_folder / "state"
    async with started(folder, major=16) as postgres:
        await run(postgres, "CREATE TABLE kept AS SELECT 1 AS one")
    with pytest.raises(
        WrongMajor, match=r"made by PostgreSQL 16; this pgrecall runs PostgreSQL 18"
    ):
        async with started(folder):
            pass
    async with started(folder, major=16) as postgres:
        assert await run(postgres, "SELECT one FROM kept") == 1


async def test_a_disk_too_small_for_a_database_is_refused_before_anything_is_made(
    temporary_folder: Path,
) -> None:
    with small_disk(temporary_folder / "disk", 40) as disk:
        with pytest.raises(DiskFull, match="no room left"):
            async with started(disk / "state"):
                pass
        assert not (disk / "state" / "postgres").exists()


async def test_a_full_disk_refuses_the_start_and_loses_nothing(temporary_folder: Path) -> None:
    with small_disk(temporary_folder / "disk", 300) as disk:
        async with started(disk / "state") as postgres:
            await run(postgres, "CREATE TABLE kept AS SELECT 1 AS one")
        ballast = fill(disk)
        with pytest.raises(DiskFull):
            async with started(disk / "state"):
                pass
        ballast.unlink()
        async with started(disk / "state") as postgres:
            assert await run(postgres, "SELECT one FROM kept") == 1


async def test_a_disk_that_fills_up_under_way_refuses_writes_until_there_is_room(
    temporary_folder: Path,
) -> None:
    with small_disk(temporary_folder / "disk", 300) as disk:
        async with started(disk / "state") as postgres:
            await run(postgres, "CREATE TABLE kept AS SELECT 1 AS one")
            ballast = fill(disk, leave_kilobytes=256)
            big = "INSERT INTO kept SELECT n FROM generate_series(1, 400000) n"
            with pytest.raises((asyncpg.DiskFullError, asyncpg.PostgresConnectionError)):
                await run(postgres, big)
            ballast.unlink()
            if postgres.pid is None:  # out of room for the log itself, Postgres gives up
                await postgres.start()
        async with started(disk / "state") as postgres:
            assert await run(postgres, "SELECT count(*) FROM kept WHERE one = 1") == 1


async def test_a_read_only_folder_is_refused_with_its_name(temporary_folder: Path) -> None:
    with small_disk(temporary_folder / "disk", 300) as disk:
        async with started(disk / "state"):
            pass
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        with pytest.raises(StateFolderError, match=r"can't be written: Read-only file system"):
            async with started(disk / "state"):
                pass


async def test_leftovers_of_a_killed_first_start_do_not_matter(temporary_folder: Path) -> None:
    folder = temporary_folder / "state"
    (folder / ".initdb-half" / "data").mkdir(parents=True)
    (folder / "lock").touch()
    async with started(folder) as postgres:
        assert await run(postgres, "SELECT 1") == 1
