"""What the gateway counts, for Prometheus. Nothing here names a query, a memory or a secret.

The metrics of one process; with several workers, prometheus_client's multiprocess mode
(PROMETHEUS_MULTIPROC_DIR) adds them up.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from prometheus_client import (
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

_SHARED_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"

SESSIONS = Gauge(
    "pgrecall_gateway_sessions", "Sessions that are logged in.", multiprocess_mode="livesum"
)
LOGINS = Counter("pgrecall_gateway_logins_total", "Clients that logged in.")
REFUSALS = Counter(
    "pgrecall_gateway_refusals_total",
    "Connections refused or ended by the gateway, by reason and SQLSTATE.",
    ["reason", "sqlstate"],
)
LOGIN_SECONDS = Histogram(
    "pgrecall_gateway_login_seconds",
    "From a startup packet to the first ReadyForQuery, or to the refusal.",
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5, 30),
)
BYTES = Counter(
    "pgrecall_gateway_bytes_total",
    "Bytes relayed after login, counted when a session ends.",
    ["direction"],
)
SPLICES = Counter(
    "pgrecall_gateway_splices_total",
    "Calls of recall() and remember() that were given an embedding, or a place for one.",
)
EMBEDDING_SECONDS = Histogram(
    "pgrecall_gateway_embedding_wait_seconds",
    "How long a session waited for embeddings of one batch of texts.",
    buckets=(0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5),
)
EMBEDDING_FAILURES = Counter(
    "pgrecall_gateway_embedding_failures_total",
    "Batches that went on without embeddings, by reason.",
    ["reason"],
)
CANCELS = Counter("pgrecall_gateway_cancels_total", "Cancel requests passed on, by origin.", ["of"])
RELAY_ERRORS = Counter(
    "pgrecall_gateway_relay_errors_total", "Sessions that ended badly, by reason.", ["reason"]
)


class _Workers:
    """The gateway's metrics of every process that writes into the shared folder."""

    def collect(self) -> Iterator[Metric]:
        """Yield them added up; the folder holds other parts' metrics too."""
        together = MultiProcessCollector(CollectorRegistry())  # type: ignore[no-untyped-call]
        for metric in together.collect():  # type: ignore[no-untyped-call]
            if metric.name.startswith("pgrecall_gateway_"):
                yield metric


def exposition() -> bytes:
    """Return the counts in Prometheus's text format, of all workers where they share a folder."""
    if _SHARED_FOLDER not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    registry.register(_Workers())
    return generate_latest(registry)
