"""Run the drivers' own test suites straight and through the gateway, and print what differs.

`python -m tests.clients.conformance [PACKAGE …]`. The suites come with the drivers' source
distributions, which pip fetches. They want a superuser, so that they run on a server made for them;
the gateway is told that user's login.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import asyncpg
import structlog
from rich.console import Console

from embedding.queries import QueryEmbeddings
from gateway import GatewayConfig, Upstream, serve
from pgrecall.embedded import EmbeddedPostgres
from pgrecall.state_folder import StateFolder
from sql.logins import LoginSecret
from tests.clients.splitter import Splitter
from tests.hash_embedder import HashEmbedder

USER = DATABASE = "postgres"  # pg8000's suite takes no other
SUITE_SECONDS = 600
console = Console(soft_wrap=True, highlight=False, markup=False)
_OUTCOME = re.compile(r"^(\S+::\S+.*?) (PASSED|FAILED|ERROR|SKIPPED)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Suite:
    """A driver's suite: the distribution, where its tests are, and those that fit."""

    package: str
    folder: str
    files: tuple[str, ...]


SUITES = (
    Suite(
        "asyncpg",
        "tests",
        tuple(
            f"test_{name}.py"
            for name in (
                "cache_invalidation",
                "cancellation",
                "codecs",
                "copy",
                "cursor",
                "exceptions",
                "execute",
                "introspection",
                "listeners",
                "logging",
                "pool",
                "prepare",
                "record",
                "timeout",
                "transaction",
            )
        ),
    ),
    Suite(
        "pg8000",
        "test",
        tuple(
            f"{interface}/test_{name}.py"
            for interface, names in (
                ("native", ("core", "copy", "prepared_statement", "query", "typeconversion")),
                ("dbapi", ("copy", "dbapi20", "paramstyle", "query", "typeconversion")),
            )
            for name in names
        ),
    ),
)


def fetched(suite: Suite, folder: Path) -> Path:
    """Have pip fetch the source distribution, and unpack it."""
    wanted = f"{suite.package}=={version(suite.package)}"
    arguments = ("download", "-q", "--no-deps", "--no-binary", suite.package, "-d", str(folder))
    subprocess.run([sys.executable, "-m", "pip", *arguments, wanted], check=True)
    (archive,) = folder.glob(f"{suite.package}-*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


async def outcomes(suite: Suite, source: Path, port: int, password: str) -> dict[str, str]:
    """Run the suite by one road and return each test's outcome."""
    told = {"HOST": "127.0.0.1", "PORT": str(port), "USER": USER, "PASSWORD": password}
    told |= {"DATABASE": DATABASE, "SSLMODE": "disable", "TESTNOSSL": "1"}
    # The driver that's installed, not the source without its compiled parts.
    tests = source.parent / f"{suite.package}-tests" / suite.folder
    if not await asyncio.to_thread(tests.exists):
        shutil.copytree(source / suite.folder, tests)
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pytest", "-v", "-p", "no:asyncio", "-p", "no:cacheprovider"),
        *("-c", os.devnull, "--rootdir", str(tests), "--tb=no", "--continue-on-collection-errors"),
        *(str(tests / name) for name in suite.files if (tests / name).exists()),
        cwd=tests.parent,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, **{f"PG{name}": value for name, value in told.items()}},
    )
    out, _ = await asyncio.wait_for(child.communicate(), SUITE_SECONDS)
    return dict(_OUTCOME.findall(out.decode()))


async def compare(suite: Suite, folder: Path, ports: dict[str, int], password: str) -> int:
    """Run the suite by both roads, print the differences, and return how many there are."""
    source = await asyncio.to_thread(fetched, suite, folder)
    straight, through = [await outcomes(suite, source, port, password) for port in ports.values()]
    different = {name for name in straight | through if straight.get(name) != through.get(name)}
    for road, found in (("straight", straight), ("gateway", through)):
        counts = {kind: list(found.values()).count(kind) for kind in sorted(set(found.values()))}
        console.print(f"{suite.package}, {road}: {counts}")
    for name in sorted(different):
        console.print(
            f"  {name}: {straight.get(name)} straight, {through.get(name)} through the gateway"
        )
    return len(different)


async def main() -> None:
    """Make a server, put a gateway before it, and compare every suite."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("error"))
    folder = Path(tempfile.mkdtemp(prefix="pgr-suites-"))
    os.chmod(folder, 0o711)
    state = StateFolder(folder / "state")
    with state.claim():
        postgres = EmbeddedPostgres(state, settings={"fsync": "off"})
        await postgres.start()
        try:
            login = await _login(postgres)

            async def login_secret(role: str) -> LoginSecret | None:
                return login if role == USER else None

            upstream = Upstream(host=str(postgres.socket_folder))
            gateway = await serve(
                GatewayConfig(upstream=upstream, port=0),
                login_secret,
                QueryEmbeddings(HashEmbedder()),
            )
            # Nothing but the way differs: straight goes over TCP too.
            proxy = Splitter(upstream.host, 5432, single_bytes=0, pieces=(1 << 20,))
            await proxy.start()
            ports = {"straight": proxy.port, "gateway": gateway.port}
            chosen = [suite for suite in SUITES if suite.package in (sys.argv[1:] or suite.package)]
            password = state.secrets["superuser"]
            found = [await compare(suite, folder, ports, password) for suite in chosen]
            await proxy.close()
            await gateway.close()
        finally:
            await postgres.stop()
    shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if any(found) else 0)


async def _login(postgres: EmbeddedPostgres) -> LoginSecret:
    admin = await asyncpg.connect(postgres.superuser_dsn)
    secret = await admin.fetchval("select rolpassword from pg_authid where rolname = $1", USER)
    await admin.close()
    return LoginSecret(secret, None)


if __name__ == "__main__":
    asyncio.run(main())
