"""One embedder for many workers: embeddings asked for over a Unix socket, a JSON line each way.

The process that holds the model serves; workers ask. A request names its texts, the answer has
their embeddings in order; requests of one worker may be answered in any order.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import structlog

from gateway.config import Embeddings
from sql.records import failed_embedding

_log = structlog.get_logger(__name__)

_MAX_LINE_BYTES: Final = 64 * 1024 * 1024
_MODE: Final = 0o600
_AWAY: Final = failed_embedding("none", "the embedder's process is away")


class EmbeddingServer:
    """Answers workers with the embeddings of this process."""

    def __init__(self, embeddings: Embeddings, path: Path) -> None:
        self._embeddings = embeddings
        self._path = path
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.StreamWriter] = set()
        self._answering: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen; only this user may connect."""
        self._path.unlink(missing_ok=True)
        before = os.umask(0o777 & ~_MODE)
        try:
            self._server = await asyncio.start_unix_server(
                self._connected, self._path, limit=_MAX_LINE_BYTES
            )
        finally:
            os.umask(before)

    async def close(self) -> None:
        """Stop; workers go on without embeddings."""
        if self._server is not None:
            self._server.close()
        for answering in self._answering:
            answering.cancel()
        for connection in tuple(self._connections):
            connection.close()
        self._path.unlink(missing_ok=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        try:
            while line := await reader.readline():
                answering = asyncio.create_task(self._answer(json.loads(line), writer))
                self._answering.add(answering)
                answering.add_done_callback(self._answering.discard)
        except (OSError, ValueError) as error:
            _log.warning("embedding_request_refused", error=str(error))
        finally:
            self._connections.discard(writer)
            writer.close()

    async def _answer(self, request: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        if "passage" in request:
            answer: object = await self._embeddings.passage(request["passage"])
        else:
            answer = list(await self._embeddings.many(request["queries"]))
        if not writer.is_closing():
            writer.write(_line({"id": request["id"], "answer": answer}))


class SocketEmbeddings:
    """The embeddings of another process; while it's away, none, and the reason."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._connecting = asyncio.Lock()
        self._ids = itertools.count()
        self._waiting: dict[int, asyncio.Future[Any]] = {}

    async def many(self, texts: Sequence[str]) -> list[str]:
        """Return the query embedding, or the marker of its failure, for each text."""
        try:
            answer: list[str] = await self._ask(queries=list(texts))
        except OSError:
            return [_AWAY] * len(texts)
        return answer

    async def passage(self, text: str) -> str | None:
        """Return the passage embedding, if there is one."""
        try:
            answer: str | None = await self._ask(passage=text)
        except OSError:
            return None
        return answer

    async def close(self) -> None:
        """Hang up."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _ask(self, **request: object) -> Any:
        try:
            return await self._ask_once(request)
        except ConnectionError:  # of a server that is gone; another may stand in its place
            return await self._ask_once(request)

    async def _ask_once(self, request: dict[str, object]) -> Any:
        writer = await self._connected()
        number = next(self._ids)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            writer.write(_line({"id": number, **request}))
            return await answer
        finally:
            del self._waiting[number]

    async def _connected(self) -> asyncio.StreamWriter:
        async with self._connecting:
            if self._writer is None or self._writer.is_closing():
                reader, self._writer = await asyncio.open_unix_connection(
                    self._path, limit=_MAX_LINE_BYTES
                )
                self._reading = asyncio.create_task(self._read(reader, self._writer))
            return self._writer

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(OSError):
                while line := await reader.readline():
                    told = json.loads(line)
                    answer = self._waiting.get(told["id"])
                    if answer is not None and not answer.done():
                        answer.set_result(told["answer"])
        finally:
            writer.close()
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(ConnectionResetError("the embedder's process is away"))


def _line(message: dict[str, object]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"
