"""What /metrics tells Prometheus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from sql.readiness import Readiness
from sql.records import RecallAnswer

_METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_SECONDS: Final = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """The app's own registry, so that two apps in one process count apart.

    `beside` is what else /metrics shows, such as the gateway's counts.
    """

    def __init__(self, beside: Callable[[], bytes] = bytes) -> None:
        self._beside = beside
        self._registry = CollectorRegistry()
        self._requests = Histogram(
            "pgrecall_http_request_seconds",
            "How long requests took",
            ("method", "route", "status"),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._degraded = Counter(
            "pgrecall_recall_degraded",
            "Recalls that a leg did not serve",
            registry=self._registry,
        )
        self._refusals = Counter(
            "pgrecall_http_refusals",
            "Requests turned away, by reason",
            ("reason",),
            registry=self._registry,
        )
        self._backlog = Gauge(
            "pgrecall_embedding_backlog",
            "Memories that wait for a vector",
            registry=self._registry,
        )
        self._database = Gauge(
            "pgrecall_database_up", "1 when the database answers", registry=self._registry
        )

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one exchange; the route is its template, so that ids make no new series."""
        method = method if method in _METHODS else "other"
        self._requests.labels(method, route, str(status)).observe(seconds)

    def refused(self, reason: str) -> None:
        """Count one refusal; reasons are few and ours."""
        self._refusals.labels(reason).inc()

    def recalled(self, answer: RecallAnswer) -> None:
        """Count one recall."""
        if answer.degraded:
            self._degraded.inc()

    def exposition(self, now: Readiness) -> bytes:
        """Return the text format of Prometheus."""
        self._database.set(now.database)
        self._backlog.set(now.embedding_backlog or 0)
        return generate_latest(self._registry) + self._beside()
