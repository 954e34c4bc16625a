"""Writes that take effect once, however often the same request comes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import asyncpg

from sql.acting import act_as, act_as_app, transaction
from sql.agents import Agent
from sql.errors import Conflict, InvalidInput, NotFound
from sql.loader import queries
from sql.pool import Connection, Pool
from sql.quarantine import held_writes
from sql.records import NewMemory, Remembered
from sql.writing import NOTHING, remembered, resemblances, write

_QUERIES: Final = queries("idempotency")
KEEP_KEYS_FOR: Final = timedelta(days=1)


class KeyReused(InvalidInput):
    """The key stands for another request."""


async def remember_once(
    pool: Pool, agent: Agent, key: str, memories: Sequence[NewMemory]
) -> list[Remembered]:
    """Store the memories, unless the agent's key did so within a day: then answer as then.

    A concurrent request with the key waits for the first. Raises KeyReused when the key stood for
    other memories, NotFound when what it stored has been deleted since.
    """
    own_space = f"~{agent.name}"
    key_hash = hashlib.sha256(key.encode()).digest()
    # The key is stored nowhere, so it salts the hash of what was said.
    request_hash = _request_hash(key, memories)
    async with transaction(pool) as connection:
        await connection.execute(_QUERIES["forget_expired"])
        claimed = await connection.fetchval(
            _QUERIES["claim"], own_space, key_hash, request_hash, KEEP_KEYS_FOR
        )
        if not claimed:
            kept = await connection.fetchrow(_QUERIES["find"], own_space, key_hash)
            return await _replayed(connection, agent, kept, request_hash)
        await act_as(connection, agent)
        written = await write(connection, agent, memories)
        await act_as_app(connection)
        await connection.execute(
            *(_QUERIES["keep"], own_space, key_hash),
            [memory.id for memory in written],
            [memory.version for memory in written],
            [memory.duplicate_of is not None for memory in written],
        )
    return written


async def _replayed(
    connection: Connection, agent: Agent, kept: asyncpg.Record | None, request_hash: bytes
) -> list[Remembered]:
    if kept is None:
        raise Conflict("this idempotency key expired just now", sqlstate="40001")
    # An erasure takes the hash away, lest it confirm a guess of what was said.
    if kept["request_hash"] and kept["request_hash"] != request_hash:
        raise KeyReused("this idempotency key stands for another request", sqlstate="22023")
    await act_as(connection, agent)
    rows = await connection.fetch(_QUERIES["written_versions"], kept["ids"], kept["versions"])
    written = list(zip(kept["ids"], kept["versions"], strict=True))
    standing = {(row["id"], row["version"]): row for row in rows}
    gone = [version for version in written if version not in standing]
    held = await held_writes(connection, agent, gone) if gone else {}
    if len(held) < len(set(gone)):
        raise NotFound("what this idempotency key stored has been deleted since", sqlstate="P0002")
    near = await resemblances(connection, kept["ids"])
    return [
        held.get(version) or remembered(standing[version], repeated, near.get(version[0], NOTHING))
        for version, repeated in zip(written, kept["repeated"], strict=True)
    ]


def _request_hash(key: str, memories: Sequence[NewMemory]) -> bytes:
    digest = hashlib.sha256(key.encode())
    for memory in memories:
        said = memory.model_dump_json(exclude_unset=True).encode()
        digest.update(len(said).to_bytes(4, "big") + said)
    return digest.digest()
