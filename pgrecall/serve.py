"""`pgrecall up`: every part of a deployment in one process, until it is asked to stop."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import AsyncExitStack, suppress
from datetime import datetime, timedelta
from importlib import import_module
from tempfile import TemporaryDirectory

import structlog
import uvloop

from embedding import Embedder, EmbeddingError, QueryEmbeddings
from embedding.backfill import Backfill
from embedding.wanted import WantedQueries
from pgrecall import __version__
from pgrecall.database import require_ready
from pgrecall.deployment import Deployment
from pgrecall.embedded import EmbeddedPostgres
from pgrecall.embedders import serving_embedder
from pgrecall.endpoints import Endpoints
from pgrecall.first_agent import ensure_first_agent
from pgrecall.parts import Parts
from pgrecall.settings import Settings, unknown_variables
from pgrecall.sockets import listen
from pgrecall.start_text import say_running
from pgrecall.state_folder import StateFolder
from pgrecall.supervision import keep_running
from sql import maintenance, recall_log
from sql.migrate import migrate
from sql.pool import Pool, create_pool
from sql.store import MemoryStore

log = structlog.get_logger(__name__)

_POOL_SIZE = 20
_POOL_CLOSE_SECONDS = 5.0


def run(settings: Settings) -> None:
    """Run until SIGTERM or SIGINT; raises PgrecallError when a part can't start, or dies."""
    uvloop.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    for variable in unknown_variables():
        log.warning("no such setting", variable=variable)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    state = StateFolder(settings.state_dir)
    with state.claim("up"):
        async with AsyncExitStack() as stack:
            starting = asyncio.create_task(_start(stack, settings, state))
            if (parts := await _unless_stopped(starting, stop)) is not None:
                await parts.run_until(stop)
                log.info("stopping")


async def _unless_stopped(starting: asyncio.Task[Parts], stop: asyncio.Event) -> Parts | None:
    """Return the started parts; None, with all undone, when asked to stop before."""
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait((starting, stopping), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if starting.done():
        return starting.result()
    starting.cancel()
    with suppress(asyncio.CancelledError):
        await starting
    return None


async def _start(stack: AsyncExitStack, settings: Settings, state: StateFolder) -> Parts:
    """Start everything, the last to stop first, and announce it once all of it answers."""
    started_at = datetime.now().astimezone().isoformat(timespec="seconds")
    if settings.gateway_workers != 1:
        # Read when prometheus_client is imported: every process then counts into this folder.
        folder = stack.enter_context(TemporaryDirectory(prefix="pgrecall-metrics-"))
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
    http_socket = listen(settings.http_host, settings.http_port, option="--http")
    stack.callback(http_socket.close)
    serving = serving_embedder(settings)
    embedder = serving.wanted if serving else None
    if serving is not None:
        stack.push_async_callback(serving.close)
    warming = asyncio.create_task(_warm(embedder))
    stack.callback(warming.cancel)
    postgres, dsn = await _open_while_importing(stack, settings, state)
    pool = await create_pool(dsn, min_size=2, max_size=_POOL_SIZE)
    stack.push_async_callback(_close_pool, pool)
    first = await ensure_first_agent(pool, state)
    parts = await stack.enter_async_context(Parts())
    if postgres is not None:
        parts.add("embedded Postgres", keep_running(postgres))
    if embedder is not None:
        parts.add("back-fill worker", Backfill(pool, embedder, serving=serving).run())
    parts.add("recall log", recall_log.run(pool))
    parts.add("maintenance", maintenance.run(pool, timedelta(days=settings.keep_deleted_days)))
    queries = QueryEmbeddings(serving)
    if embedder is not None:
        parts.add("query embedding worker", WantedQueries(pool, queries).run())
    deployment = Deployment(
        settings=settings,
        state=state,
        dsn=dsn,
        pool=pool,
        queries=queries,
        store=MemoryStore(pool, queries),
        model=embedder.model if embedder else None,
        settled=asyncio.Event(),
    )
    from pgrecall.fronts import start_gateway, start_http

    http = await start_http(stack, parts, deployment, http_socket)
    gateway = await start_gateway(stack, deployment)
    endpoints = Endpoints(
        version=__version__,
        pid=os.getpid(),
        started_at=started_at,
        gateway=gateway,
        http=http,
        rest=f"{http}/v1",
        mcp=f"{http}/mcp",
    )
    stack.callback(state.endpoints_file.unlink, missing_ok=True)
    say_running(endpoints, first)
    endpoints.write(state)
    warming.add_done_callback(lambda _: deployment.settled.set())
    return parts


async def _open_while_importing(
    stack: AsyncExitStack, settings: Settings, state: StateFolder
) -> tuple[EmbeddedPostgres | None, str]:
    """Open the database, and import the fronts, a second's work, while Postgres starts."""
    opening = asyncio.create_task(_open_database(stack, settings, state))
    try:
        await asyncio.to_thread(import_module, "pgrecall.fronts")
        return await opening
    except BaseException:
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
        raise


async def _open_database(
    stack: AsyncExitStack, settings: Settings, state: StateFolder
) -> tuple[EmbeddedPostgres | None, str]:
    if settings.database_dsn:
        await require_ready(settings.database_dsn)
        await migrate(settings.database_dsn)
        return None, settings.database_dsn
    postgres = EmbeddedPostgres(state)
    await postgres.start()
    stack.push_async_callback(postgres.stop)
    await migrate(postgres.app_dsn)
    state.tell_serving()
    return postgres, postgres.app_dsn


async def _warm(embedder: Embedder | None) -> None:
    """Load the model before the first query needs it."""
    if embedder is None:
        return
    try:
        await embedder.embed_queries(["warm up"])
    except EmbeddingError as error:
        log.warning("no embeddings for now; recall has its lexical leg", reason=str(error))


async def _close_pool(pool: Pool) -> None:
    try:
        async with asyncio.timeout(_POOL_CLOSE_SECONDS):
            await pool.close()
    except TimeoutError:
        pool.terminate()
