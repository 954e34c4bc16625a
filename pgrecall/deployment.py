"""What the parts of `up` share."""

from __future__ import annotations

from dataclasses import dataclass

from embedding import QueryEmbeddings
from gateway.config import GatewayConfig, Tls, Upstream
from pgrecall.settings import Settings
from pgrecall.state_folder import StateFolder
from sql.pool import Pool


@dataclass(frozen=True, slots=True)
class Deployment:
    """A migrated database, ways into it, and what makes embeddings."""

    settings: Settings
    state: StateFolder
    dsn: str
    pool: Pool
    upstream: Upstream
    queries: QueryEmbeddings
    model: str | None


def gateway_config(
    settings: Settings, upstream: Upstream, *, port: int, mock_secret: bytes, many: bool
) -> GatewayConfig:
    """Return what one process of the gateway is told."""
    certificate, key = settings.gateway_tls_cert, settings.gateway_tls_key
    return GatewayConfig(
        upstream=upstream,
        host=settings.gateway_host,
        port=port,
        tls=Tls(certificate, key) if certificate and key else None,
        reuse_port=many,
        mock_secret=mock_secret,
    )
