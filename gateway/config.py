"""What a gateway is told, and what it needs from others."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol


class LoginSecret(Protocol):
    """A role's SCRAM verifier, as pg_authid holds it, and how long it may be used."""

    @property
    def secret(self) -> str:
        """Return `SCRAM-SHA-256$…`."""
        ...

    @property
    def valid_until(self) -> datetime | None:
        """Return when the login expires."""
        ...


class LoginSecrets(Protocol):
    """Looks up the login of a role; None for a role that may not use the gateway."""

    async def __call__(self, role: str) -> LoginSecret | None:
        """Return the role's login."""
        ...


class Embeddings(Protocol):
    """Makes what recall() and remember() take as `query_embedding`; never raises for a failure."""

    async def many(self, texts: Sequence[str]) -> Sequence[str]:
        """Return the query embedding, or the marker of its failure, for each text."""
        ...

    async def passage(self, text: str) -> str | None:
        """Return the passage embedding; None where the text needs more than one."""
        ...


@dataclass(frozen=True, slots=True)
class Upstream:
    """Where Postgres listens: a folder with its socket, or a host; TLS only to a host.

    `database` serves clients that name none or, as libpq does by default, their own user's name.
    """

    host: str
    port: int = 5432
    database: str | None = None
    tls: ssl.SSLContext | None = None

    @property
    def is_socket(self) -> bool:
        """Whether it is a Unix socket, by libpq's rule."""
        return self.host.startswith("/")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a gateway grants, all workers on its port together; None is no limit.

    A connection counts for its address from its first moment, and for the rest once it has said who
    it is. The login's time runs over TLS, startup and proof. An idle session ends between one and
    two times `idle_timeout_seconds` after its last message. A client that stops sending gets
    `half_close_seconds` for the rest of its answers.
    """

    max_connections: int = 1000
    max_connections_per_address: int | None = None
    max_connections_per_role: int | None = None
    max_logins_at_once: int = 200
    login_timeout_seconds: float = 30.0
    idle_timeout_seconds: float | None = None
    drain_seconds: float = 10.0
    half_close_seconds: float = 10.0
    max_buffered_bytes: int = 256 * 1024
    embedding_timeout_seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class SharedPlaces:
    """The folder where the workers on one port keep count; of `workers`, `index` is this one."""

    path: Path
    index: int
    workers: int

    def file(self, index: int) -> Path:
        """Return where the worker of that index keeps count."""
        return self.path / f"places-{index}"


@dataclass(frozen=True, slots=True)
class Tls:
    """The certificate that the gateway shows; both files are read again when they change."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class GatewayConfig:
    """Where the gateway listens (port 0 picks a free one) and what stands behind it."""

    upstream: Upstream
    host: str = "127.0.0.1"
    port: int = 5499
    tls: Tls | None = None
    limits: Limits = field(default_factory=Limits)
    reuse_port: bool = False
    shared_places: SharedPlaces | None = None
    # The mock exchange of unknown roles must look alike in every process and after a restart.
    mock_secret: bytes | None = field(default=None, repr=False)
