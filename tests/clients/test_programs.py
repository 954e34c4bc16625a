"""Clients that are programs of their own, by three roads: their output is the same by each."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import asyncpg
import pytest

from pgrecall.embedded import EmbeddedPostgres, binaries
from tests.clients.conftest import QUESTION, ROADS_AGENT, Road, Roads
from tests.clients.splitter import Splitter
from tests.conftest import Database

PROGRAMS = Path(__file__).parent / "programs"
NODE_PACKAGES = ("pg@8", "pg-cursor@2", "postgres@3")
JDBC = Path("/usr/share/java/postgresql.jar")
SCRAM_JARS = tuple(Path("/usr/share/java").glob("*s*.jar"))


async def output(road: Road, *command: str, script: str = "") -> str:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, **road.environment, "QUESTION": QUESTION, "READY": road.ready},
    )
    out, _ = await asyncio.wait_for(process.communicate(script.encode()), 60)
    told = out.decode()
    assert process.returncode == 0, told[-3000:]
    return told


@pytest.fixture(scope="session")
async def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed")
    cache = Path(os.environ.get("PGRECALL_TEST_CACHE", Path.home() / ".cache/pgrecall-test"))
    folder = cache / "node"
    if not all((folder / "node_modules" / one.partition("@")[0]).is_dir() for one in NODE_PACKAGES):
        folder.mkdir(parents=True, exist_ok=True)
        install = await asyncio.create_subprocess_exec(
            *(npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), *NODE_PACKAGES),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        if await install.wait():
            pytest.skip("npm could not install the Postgres drivers")
    return folder


async def test_node_drivers_see_the_same_by_every_road(roads: Roads, node_modules: Path) -> None:
    command = ("node", str(PROGRAMS / "drivers.mjs"), str(node_modules))
    straight = await output(roads.straight, *command)
    assert "password authentication failed" in straight
    assert await output(roads.gateway, *command) == straight
    assert await output(roads.split, *command) == straight


async def test_jdbc_sees_the_same_by_every_road(roads: Roads, server: EmbeddedPostgres) -> None:
    if shutil.which("java") is None or not JDBC.exists():
        pytest.skip("no Java, or no /usr/share/java/postgresql.jar (libpostgresql-jdbc-java)")
    classes = ":".join(map(str, (JDBC, *SCRAM_JARS)))
    command = ("java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", classes)
    command += (str(PROGRAMS / "Drivers.java"),)
    # Java speaks no Unix sockets: a byte-for-byte proxy stands in front of the server.
    proxy = Splitter(str(server.socket_folder), 5432, single_bytes=0, pieces=(65_536,))
    await proxy.start()
    straight = await output(Road("127.0.0.1", proxy.port, *roads_login(roads.straight)), *command)
    await proxy.close()
    assert "57014" in straight
    assert await output(roads.gateway, *command) == straight
    assert await output(roads.split, *command) == straight


def roads_login(road: Road) -> tuple[str, str, str, str]:
    return road.user, road.password, road.database, road.ready


PSQL_SCRIPT = f"""
\\d memory.*
\\df memory.*
\\l
select 1; select 2;
\\set VERBOSITY verbose
select * from nowhere;
select content, vector_rank from recall('{QUESTION}':ready);
create temp table t (n int); copy t from stdin;
1
2
\\.
\\copy (select * from t) to stdout
select 1/(3-g) from generate_series(1,5) g;
\\bind '{QUESTION}' \\g
select $1::text \\bind '{QUESTION}' \\g
"""


async def test_psql_sees_the_same_by_every_road(roads: Roads) -> None:
    psql = str(binaries(18) / "psql")

    async def seen(road: Road) -> str:
        return await output(road, psql, "-X", "-v", f"ready={road.ready}", script=PSQL_SCRIPT)

    straight = await seen(roads.straight)
    assert await seen(roads.gateway) == straight
    assert await seen(roads.split) == straight


async def test_pg_dump_dumps_the_same_by_every_road(roads: Roads, database: Database) -> None:
    admin = await asyncpg.connect(database.superuser_dsn)
    await admin.execute(f"create schema if not exists own authorization {ROADS_AGENT}")
    await admin.execute(
        "create table if not exists own.things as"
        " select n, 'recall(''x'')' as said from generate_series(1, 100) n;"
        f" alter table own.things owner to {ROADS_AGENT}"
    )
    await admin.close()
    command = (str(binaries(18) / "pg_dump"), "-n", "own", "--restrict-key=same")
    straight = await output(roads.straight, *command)
    assert "recall('x')" in straight
    assert await output(roads.gateway, *command) == straight
    assert await output(roads.split, *command) == straight
