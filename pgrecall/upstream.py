"""What the gateway is told: where it listens, and where it finds Postgres."""

from __future__ import annotations

import ssl
from collections.abc import Mapping

from gateway.config import GatewayConfig, Limits, SharedPlaces, Tls, Upstream
from pgrecall.settings import Settings
from sql.pool import Pool

_VERIFYING = {"verify-ca", "verify-full"}


async def upstream_of(dsn: str, pool: Pool) -> Upstream:
    """Return what the connection string names; with TLS when our own connections have it."""
    from psycopg.conninfo import conninfo_to_dict

    told = conninfo_to_dict(dsn)
    row = await pool.fetchrow(
        "SELECT current_database()::text AS database, coalesce(ssl, false) AS ssl"
        " FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
    )
    assert row is not None
    host = str(told.get("host") or "localhost").split(",")[0]
    port = int(str(told.get("port") or 5432).split(",")[0])
    tls = _tls(told) if row["ssl"] and not host.startswith("/") else None
    return Upstream(host=host, port=port, database=row["database"], tls=tls)


def _tls(told: Mapping[str, object]) -> ssl.SSLContext:
    """Check what libpq would check: nothing at `require`, the chain at verify-ca, the name too."""
    mode = str(told.get("sslmode") or "prefer")
    root = told.get("sslrootcert")
    context = ssl.create_default_context(cafile=str(root) if root and root != "system" else None)
    context.check_hostname = mode == "verify-full"
    if mode not in _VERIFYING:
        context.verify_mode = ssl.CERT_NONE
    return context


def gateway_config(
    settings: Settings,
    upstream: Upstream,
    *,
    port: int,
    mock_secret: bytes,
    shared: SharedPlaces | None = None,
) -> GatewayConfig:
    """Return the configuration of one process; `shared` when it is one of several on the port."""
    certificate, key = settings.gateway_tls_cert, settings.gateway_tls_key
    return GatewayConfig(
        upstream=upstream,
        host=settings.gateway_host,
        port=port,
        tls=Tls(certificate, key) if certificate and key else None,
        limits=Limits(
            max_connections=settings.gateway_max_connections,
            max_connections_per_address=settings.gateway_max_connections_per_address,
            max_connections_per_role=settings.gateway_max_connections_per_role,
            login_timeout_seconds=settings.gateway_login_timeout_seconds,
            idle_timeout_seconds=settings.gateway_idle_timeout_seconds,
        ),
        reuse_port=shared is not None,
        shared_places=shared,
        mock_secret=mock_secret,
    )
