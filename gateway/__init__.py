"""The PostgreSQL wire protocol in front of the real Postgres.

A client logs in with its own password, is relayed to a backend that is logged in as the same role,
and its calls of recall() and remember() get the embedding of their text.
"""

from gateway.config import GatewayConfig, Limits, SharedPlaces, Tls, Upstream
from gateway.embedding_socket import EmbeddingServer, SocketEmbeddings
from gateway.server import Gateway, InsecureBind, serve
from gateway.workers import Workers

__all__ = [
    "EmbeddingServer",
    "Gateway",
    "GatewayConfig",
    "InsecureBind",
    "Limits",
    "SharedPlaces",
    "SocketEmbeddings",
    "Tls",
    "Upstream",
    "Workers",
    "serve",
]
