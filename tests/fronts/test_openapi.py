"""The OpenAPI document: what it says is what is served, for requests that it makes up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import positive_data_acceptance

from rest import create_app
from tests.fronts.conftest import BASE_URL

# Made without a database: only its description is read here.
DOCUMENT = create_app(None, None, version="0").openapi()  # type: ignore[arg-type]


def without_security() -> dict[str, Any]:
    """The client logs in by itself; refused log-ins are tested elsewhere."""
    document = deepcopy(DOCUMENT)
    for operations in document["paths"].values():
        for operation in operations.values():
            operation.pop("security", None)
    return document


SCHEMA = schemathesis.openapi.from_dict(without_security())


def operations() -> Iterator[Any]:
    for result in SCHEMA.get_all_operations():
        operation = result.ok()
        yield pytest.param(operation, id=operation.label)


def as_httpx(case: schemathesis.Case) -> dict[str, Any]:
    arguments = case.as_transport_kwargs(base_url=BASE_URL)
    arguments.pop("cookies", None)
    if "json" in arguments:  # httpx writes no lone surrogates
        arguments["content"] = json.dumps(arguments.pop("json")).encode()
        arguments["headers"]["Content-Type"] = "application/json"
    if "data" in arguments:
        arguments["content"] = arguments.pop("data")
    return arguments


MODES = list(schemathesis.GenerationMode)


@pytest.mark.parametrize("operation", list(operations()))
@settings(
    max_examples=25,
    phases=[Phase.generate],
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(drawn=st.data())
async def test_made_up_requests_are_answered_as_described(operation, ada, drawn):
    cases = [operation.as_strategy(generation_mode=mode) for mode in MODES]
    case = drawn.draw(st.one_of(*cases))

    answer = await ada.request(**as_httpx(case))

    # JSON Schema can't say "not blank", "no NUL", or "after that other time".
    case.validate_response(answer, excluded_checks=[positive_data_acceptance])


async def test_the_document_is_served_and_names_refusals_as_problems(ada):
    served = (await ada.get("/openapi.json")).json()

    assert served == json.loads(json.dumps(DOCUMENT))
    for path, operations in served["paths"].items():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                if path.startswith("/v1/") and status >= "400":
                    assert list(response["content"]) == ["application/problem+json"]


async def test_the_page_of_documentation_shows_every_route_and_loads_nothing(ada):
    page = await ada.get("/docs")

    assert page.headers["Content-Type"].startswith("text/html")
    assert "script" not in page.text
    assert "http" not in page.text
    for path in DOCUMENT["paths"]:
        assert f"<code>{path}</code>" in page.text
    assert "required" in page.text


async def test_the_documented_models_describe_their_fields():
    for name in ("NewMemory", "RecallQuery", "MemoryPatch"):
        for field, about in DOCUMENT["components"]["schemas"][name]["properties"].items():
            assert about.get("description"), f"{name}.{field}"
