"""Memories for a command: over REST to a running `up`, else straight at the store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol
from urllib.parse import urlencode
from uuid import UUID

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
from sql.erasing import Erasure, ErasureReport, erase
from sql.forgetting import Forget, Forgotten, forget
from sql.pool import Pool, create_pool
from sql.records import NewMemory, RecallAnswer, RecallQuery, Remembered
from sql.revisions import Versions, history
from sql.store import MemoryStore
from sql.tidying import HealthReport, health


class MemoryClient(Protocol):
    """What the commands need of the memories."""

    async def remember(self, memory: NewMemory) -> Remembered:
        """Store a memory."""
        ...

    async def recall(self, query: RecallQuery) -> RecallAnswer:
        """Return what fits the query, best first."""
        ...

    async def forget(self, wanted: Forget) -> Forgotten:
        """Forget a memory."""
        ...

    async def erase(self, wanted: Erasure) -> ErasureReport:
        """Erase what fits, or tell what that would be."""
        ...

    async def history(self, memory_id: UUID) -> Versions:
        """Return every version of a memory, oldest first."""
        ...

    async def health(self, space: str | None) -> HealthReport:
        """Report what could be tidied."""
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
            yield _AtTheStore(store, pool, await find_agent(pool, agent or first))
        finally:
            await pool.close()
            if embedder is not None:
                await embedder.close()


class _AtTheStore:
    def __init__(self, store: MemoryStore, pool: Pool, agent: Agent) -> None:
        self._store = store
        self._pool = pool
        self._agent = agent

    async def remember(self, memory: NewMemory) -> Remembered:
        return await self._store.remember(self._agent, memory)

    async def recall(self, query: RecallQuery) -> RecallAnswer:
        return await self._store.recall(self._agent, query)

    async def forget(self, wanted: Forget) -> Forgotten:
        return await forget(self._pool, self._agent, wanted)

    async def erase(self, wanted: Erasure) -> ErasureReport:
        return await erase(self._pool, self._agent, wanted)

    async def history(self, memory_id: UUID) -> Versions:
        return await history(self._pool, self._agent, memory_id)

    async def health(self, space: str | None) -> HealthReport:
        return await health(self._pool, self._agent, space)


class _OverRest:
    def __init__(self, session: httpx.AsyncClient) -> None:
        self._session = session

    async def remember(self, memory: NewMemory) -> Remembered:
        body = memory.model_dump(mode="json", exclude_unset=True)
        return Remembered.model_validate(await self._ask("POST", "/v1/memories", body))

    async def recall(self, query: RecallQuery) -> RecallAnswer:
        body = query.model_dump(mode="json", exclude_unset=True)
        return RecallAnswer.model_validate(await self._ask("POST", "/v1/recall", body))

    async def forget(self, wanted: Forget) -> Forgotten:
        path = f"/v1/memories/{wanted.id}?how={wanted.how}"
        return Forgotten.model_validate(await self._ask("DELETE", path))

    async def erase(self, wanted: Erasure) -> ErasureReport:
        body = wanted.model_dump(mode="json", exclude_none=True)
        return ErasureReport.model_validate(await self._ask("POST", "/v1/erasures", body))

    async def history(self, memory_id: UUID) -> Versions:
        answer = await self._ask("GET", f"/v1/memories/{memory_id}/history")
        return Versions.model_validate(answer)

    async def health(self, space: str | None) -> HealthReport:
        query = "" if space is None else f"?{urlencode({'space': space})}"
        answer = await self._ask("GET", f"/v1/health-report{query}")
        return HealthReport.model_validate(answer)

    async def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        try:
            response = await self._session.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise PgrecallError(
                f"the running pgrecall does not answer: {error}", hint="pgrecall status"
            ) from error
        answer = response.json()
        if response.is_error:
            raise PgrecallError(answer.get("title", "refused"), hint=answer.get("detail"))
        return answer
