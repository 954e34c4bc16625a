"""Memories for a command: over REST to a running `up`, else straight at the store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

import httpx

from embedding import QueryEmbeddings
from pgrecall.database import opened_database
from pgrecall.embedders import configured_embedder
from pgrecall.endpoints import Credentials, Endpoints
from pgrecall.errors import PgrecallError
from pgrecall.first_agent import ensure_first_agent
from pgrecall.settings import Settings
from pgrecall.state_folder import StateFolder
from sql.agents import Agent, find_agent
from sql.pool import create_pool
from sql.records import NewMemory, RecallAnswer, RecallQuery, Remembered
from sql.store import MemoryStore


class MemoryClient(Protocol):
    """What the commands need of the memories."""

    async def remember(self, memory: NewMemory) -> Remembered:
        """Store a memory."""
        ...

    async def recall(self, query: RecallQuery) -> RecallAnswer:
        """Return what fits the query, best first."""
        ...


@asynccontextmanager
async def memory_client(settings: Settings, agent: str | None) -> AsyncIterator[MemoryClient]:
    """Yield the nearest way to the memories, acting as the agent; the first one by default."""
    state = StateFolder(settings.state_dir)
    running = Endpoints.read(state)
    kept = Credentials.read(state)
    if running and kept and agent in (None, kept.agent):
        headers = {"Authorization": f"Bearer {kept.token}"}
        async with httpx.AsyncClient(base_url=running.http, headers=headers, timeout=60) as session:
            yield _OverRest(session)
    else:
        async with _store_client(settings, state, agent) as client:
            yield client


@asynccontextmanager
async def _store_client(
    settings: Settings, state: StateFolder, agent: str | None
) -> AsyncIterator[MemoryClient]:
    embedder = configured_embedder(settings)
    async with opened_database(settings) as database:
        pool = await create_pool(database.dsn, min_size=1, max_size=2)
        try:
            first = await ensure_first_agent(pool, state)
            store = MemoryStore(pool, QueryEmbeddings(embedder, timeout_seconds=30))
            yield _AtTheStore(store, await find_agent(pool, agent or first))
        finally:
            await pool.close()
            if embedder is not None:
                await embedder.close()


class _AtTheStore:
    def __init__(self, store: MemoryStore, agent: Agent) -> None:
        self._store = store
        self._agent = agent

    async def remember(self, memory: NewMemory) -> Remembered:
        return await self._store.remember(self._agent, memory)

    async def recall(self, query: RecallQuery) -> RecallAnswer:
        return await self._store.recall(self._agent, query)


class _OverRest:
    def __init__(self, session: httpx.AsyncClient) -> None:
        self._session = session

    async def remember(self, memory: NewMemory) -> Remembered:
        body = memory.model_dump(mode="json", exclude_unset=True)
        return Remembered.model_validate(await self._post("/v1/memories", body))

    async def recall(self, query: RecallQuery) -> RecallAnswer:
        body = query.model_dump(mode="json", exclude_unset=True)
        return RecallAnswer.model_validate(await self._post("/v1/recall", body))

    async def _post(self, path: str, body: dict[str, Any]) -> Any:
        try:
            response = await self._session.post(path, json=body)
        except httpx.HTTPError as error:
            raise PgrecallError(
                f"the running pgrecall does not answer: {error}", hint="pgrecall status"
            ) from error
        answer = response.json()
        if response.is_error:
            raise PgrecallError(answer.get("title", "refused"), hint=answer.get("detail"))
        return answer
