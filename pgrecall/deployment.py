"""What the parts of `up` share."""

from __future__ import annotations

from dataclasses import dataclass

from embedding import QueryEmbeddings
from pgrecall.settings import Settings
from pgrecall.state_folder import StateFolder
from sql.pool import Pool
from sql.store import MemoryStore


@dataclass(frozen=True, slots=True)
class Deployment:
    """A migrated database, ways into it, and what makes embeddings, by the model of that name."""

    settings: Settings
    state: StateFolder
    dsn: str
    pool: Pool
    queries: QueryEmbeddings
    store: MemoryStore
    model: str | None
