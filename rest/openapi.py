"""The OpenAPI document, in which refusals are what they are: problem details."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI

from rest.problems import MEDIA_TYPE, Problem

# What any route that asks the store may answer besides its own.
_REFUSALS: Final = {
    "400": "The request can't be read",
    "401": "No valid bearer token",
    "403": "This agent may not do that",
    "404": "No such memory, or none that the caller may see",
    "409": "Another writer was first",
    "413": "The request is too large",
    "422": "A value can't be accepted",
    "429": "Too many requests; Retry-After says when to come back",
    "503": "The database is not available; Retry-After says when to come back",
}


def describe(app: FastAPI) -> None:
    """Make the app's OpenAPI document name every refusal as a problem."""
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            _describe_refusals(generate())
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _describe_refusals(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for left_over in ("HTTPValidationError", "ValidationError"):
        schemas.pop(left_over, None)
    definition = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= definition.pop("$defs")
    schemas["Problem"] = definition
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for path, operations in document["paths"].items():
        if not path.startswith("/v1/"):
            continue
        for operation in operations.values():
            for status, description in _REFUSALS.items():
                operation["responses"][status] = {"description": description}
            for status, response in operation["responses"].items():
                if status >= "400":
                    response["content"] = content
