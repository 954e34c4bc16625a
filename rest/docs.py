"""/docs: the OpenAPI document as one plain page, which loads nothing from anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

router: Final = APIRouter(include_in_schema=False)

_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
    )
}
_STYLE: Final = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
details { border: 1px solid #8884; border-radius: 6px; margin: .5rem 0; padding: .4rem .8rem }
summary { cursor: pointer } code { font-size: .95em } b { display: inline-block; min-width: 4rem }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 }
td { border-top: 1px solid #8884; padding: .25rem .5rem .25rem 0; vertical-align: top }
:root { color-scheme: light dark }
"""


@router.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    """Show what the API takes and answers."""
    return HTMLResponse("".join(_page(request.app.openapi())), headers=_HEADERS)


def _page(document: dict[str, Any]) -> Iterator[str]:
    about = document["info"]
    yield f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(about['title'])} API"
    yield f"</title><style>{_STYLE}</style><h1>{escape(about['title'])} {escape(about['version'])}"
    yield f"</h1><p>{escape(about['description'])} Requests to <code>/v1</code> carry "
    yield "<code>Authorization: Bearer TOKEN</code>. Refusals are <code>application/problem+json"
    yield "</code>. The same for programs: <a href=openapi.json>openapi.json</a>.</p>"
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield from _operation(document, method.upper(), path, operation)


def _operation(
    document: dict[str, Any], method: str, path: str, operation: dict[str, Any]
) -> Iterator[str]:
    yield f"<details><summary><b>{method}</b> <code>{escape(path)}</code> "
    yield f"{escape(operation.get('description', ''))}</summary>"
    parameters = {entry["name"]: entry["schema"] for entry in operation.get("parameters", ())}
    if parameters:
        yield from _fields("Parameters", parameters, frozenset())
    if body := _schema(document, operation.get("requestBody", {})):
        required = frozenset(body.get("required", ()))
        yield from _fields("Body", body.get("properties", {}), required)
    for status, response in operation["responses"].items():
        yield f"<h3>{status} {escape(response['description'])}</h3>"
        if status < "300" and (answer := _schema(document, response)):
            yield from _fields("", answer.get("properties", {}), frozenset())
    yield "</details>"


def _schema(document: dict[str, Any], holder: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = holder.get("content", {}).get("application/json", {}).get("schema", {})
    name = schema.get("$ref", "").rpartition("/")[2]
    return document["components"]["schemas"][name] if name else schema


def _fields(title: str, fields: dict[str, Any], required: frozenset[str]) -> Iterator[str]:
    yield f"<h3>{title}</h3><table>"
    for name, schema in fields.items():
        mark = " (required)" if name in required else ""
        yield f"<tr><td><code>{escape(name)}</code>{mark}<td>{escape(_type(schema))}"
        yield f"<td>{escape(schema.get('description', ''))}"
    yield "</table>"


def _type(schema: dict[str, Any]) -> str:
    if alternatives := schema.get("anyOf"):
        return " or ".join(_type(alternative) for alternative in alternatives)
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    bounds = [
        f"{word} {schema[key]}"
        for key, word in (("minimum", "from"), ("maximum", "to"), ("maxLength", "up to"))
        if key in schema
    ]
    return " ".join([str(schema.get("format", schema.get("type", "anything"))), *bounds])
