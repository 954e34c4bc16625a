"""The embedder that the settings name."""

from __future__ import annotations

from embedding import Embedder, make_embedder
from pgrecall.settings import Settings


def configured_embedder(settings: Settings) -> Embedder | None:
    """Return it, with nothing loaded yet; None for `none`."""
    match settings.embedder:
        case "openai":
            key = settings.openai_api_key
            return make_embedder(
                "openai",
                url=settings.openai_base_url,
                model=settings.openai_model,
                api_key=key.get_secret_value() if key else None,
                dimension=settings.openai_dimension,
            )
        case "ollama":
            return make_embedder(
                "ollama",
                url=settings.ollama_url,
                model=settings.ollama_model,
                dimension=settings.ollama_dimension,
            )
        case name:
            return make_embedder(name, threads=settings.embedder_threads)
