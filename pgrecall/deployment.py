"""What the parts of `up` share."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from embedding import QueryEmbeddings
from pgrecall.settings import Settings
from pgrecall.state_folder import StateFolder
from sql.pool import Pool
from sql.store import MemoryStore


@dataclass(frozen=True, slots=True)
class Deployment:
    """A migrated database, ways into it, and what makes embeddings, by the model of that name.

    `settled` is set when everything is announced and the model loaded.
    """

    settings: Settings
    state: StateFolder
    dsn: str
    pool: Pool
    queries: QueryEmbeddings
    store: MemoryStore
    model: str | None
    settled: asyncio.Event
