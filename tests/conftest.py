"""One embedded server for the whole run; per test a database cloned from a migrated template."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from pgrecall.embedded import MAJOR, EmbeddedPostgres
from pgrecall.state_folder import StateFolder
from tests.hash_embedder import HashEmbedder

if TYPE_CHECKING:
    from sql.agents import Agent
    from sql.store import MemoryStore

# The server outlives no test run: speed before durability.
FAST = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "128MB",
    "autovacuum": "off",
}
TEMPLATE = "migrated"


@dataclass(frozen=True, slots=True)
class Database:
    """A migrated, empty database: `dsn` is the app role's, as REST, MCP and the gateway have."""

    name: str
    dsn: str
    superuser_dsn: str
    server: EmbeddedPostgres

    def dsn_for(self, user: str, password: str) -> str:
        return self.server.dsn(user, password, self.name)


# Data folders are synced when they are made and stopped; in memory that costs nothing.
_MEMORY = Path("/dev/shm")
_ENOUGH_BYTES = 2 * 1024**3


@contextmanager
def short_lived_folder() -> Iterator[Path]:
    """A folder with a short path, which sockets need."""
    in_memory = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ENOUGH_BYTES
    folder = Path(tempfile.mkdtemp(prefix="pgr-", dir=_MEMORY if in_memory else None))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def temporary_folder() -> Iterator[Path]:
    with short_lived_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
async def server() -> AsyncIterator[EmbeddedPostgres]:
    with short_lived_folder() as folder:
        async with started(folder / "state") as postgres:
            yield postgres


@asynccontextmanager
async def started(folder: Path, *, major: int = MAJOR) -> AsyncIterator[EmbeddedPostgres]:
    state = StateFolder(folder)
    with state.claim():
        postgres = EmbeddedPostgres(state, settings=FAST, major=major)
        await postgres.start()
        try:
            yield postgres
        finally:
            await postgres.stop()


async def as_superuser(server: EmbeddedPostgres, *statements: str) -> None:
    connection = await asyncpg.connect(database_dsn(server, "postgres", superuser=True))
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


def database_dsn(server: EmbeddedPostgres, name: str, *, superuser: bool = False) -> str:
    dsn = server.superuser_dsn if superuser else server.app_dsn
    return dsn.replace("@/memory?", f"@/{name}?")


async def create_database(server: EmbeddedPostgres, name: str, *, template: str) -> Database:
    await as_superuser(
        server,
        f"CREATE DATABASE {name} OWNER pgrecall TEMPLATE {template}",
        f"REVOKE CONNECT, TEMPORARY ON DATABASE {name} FROM PUBLIC",
    )
    superuser_dsn = database_dsn(server, name, superuser=True)
    return Database(name, database_dsn(server, name), superuser_dsn, server)


_numbers = count(1)


@pytest.fixture
def unique_name() -> Callable[[str], str]:
    """Names for roles, which the whole server shares: `unique_name("ada")` is ada_17."""
    return lambda stem: f"{stem}_{next(_numbers)}"


@pytest.fixture(scope="session")
async def template(server: EmbeddedPostgres) -> str:
    from sql.migrate import migrate

    made = await create_database(server, TEMPLATE, template="template1")
    connection = await asyncpg.connect(made.superuser_dsn)
    await connection.execute("CREATE EXTENSION vector")
    await connection.close()
    await migrate(made.dsn)
    return TEMPLATE


@pytest.fixture
async def empty_database(server: EmbeddedPostgres) -> AsyncIterator[Database]:
    """A database with the extension and nothing else."""
    name = f"empty_{next(_numbers)}"
    made = await create_database(server, name, template="memory")
    yield made
    await as_superuser(server, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def database(server: EmbeddedPostgres, template: str) -> AsyncIterator[Database]:
    name = f"test_{next(_numbers)}"
    made = await create_database(server, name, template=template)
    # A template's own privileges are not cloned with it.
    await as_superuser(
        server, f"GRANT CONNECT, TEMPORARY ON DATABASE {name} TO pgrecall_agent, pgrecall_reader"
    )
    yield made
    await as_superuser(server, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def pool(database: Database) -> AsyncIterator[asyncpg.Pool]:
    from sql.pool import create_pool

    made = await create_pool(database.dsn, min_size=1, max_size=5)
    yield made
    await made.close()


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture
def store(pool: asyncpg.Pool, embedder: HashEmbedder) -> MemoryStore:
    from embedding.queries import QueryEmbeddings
    from sql.store import MemoryStore

    return MemoryStore(pool, QueryEmbeddings(embedder))


@pytest.fixture
async def ada(pool: asyncpg.Pool) -> Agent:
    """An agent without an SQL login: its name belongs to the test's own database."""
    return await added(pool, "ada")


@pytest.fixture
async def bob(pool: asyncpg.Pool) -> Agent:
    return await added(pool, "bob")


async def added(pool: asyncpg.Pool, name: str, **about: Any) -> Agent:
    from sql.agents import add_agent, find_agent

    await add_agent(pool, name, **about)
    return await find_agent(pool, name)
