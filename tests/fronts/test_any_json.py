"""Whatever JSON comes, it is an answer or a refusal that says why: never a fault of ours."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sql.records import NewMemory, RecallQuery

# Every character there is: NUL, lone surrogates, what Postgres and JSON have meanings for.
TEXT = st.text(st.characters(exclude_categories=()), max_size=30) | st.sampled_from(
    ["' or 1=1 --", "a\\", "%_", "ADR-016 / v1.2.3", "{}", "$1", "!!!", "<->", "𝕏" * 50, "\u202e"]
)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)
TIME = st.datetimes().map(lambda time: time.isoformat()) | st.integers()

any_json = settings(
    max_examples=60,
    phases=[Phase.generate, Phase.shrink],
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def some_fields(names: Any, value: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=dict.fromkeys(names, value))


async def answered(client: Any, path: str, body: Any) -> None:
    answer = await client.post(
        path, content=json.dumps(body).encode(), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in (200, 201, 403, 422), answer.text
    if answer.status_code == 422:
        assert answer.json()["type"].startswith("urn:problem-type:pgrecall:")


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/memories/batch", "/v1/recall"])
@any_json
@given(body=VALUE)
async def test_any_json_at_all(ada, path, body):
    await answered(ada, path, body)


@any_json
@given(fields=some_fields(NewMemory.model_fields, VALUE | TIME), content=TEXT)
async def test_any_values_in_a_memory(ada, fields, content):
    await answered(ada, "/v1/memories", {"content": content, **fields})


@any_json
@given(content=TEXT, names=some_fields(["space", "key", "entity", "title", "thread"], TEXT))
async def test_any_texts_in_a_memory_come_back_as_they_were(ada, content, names):
    body = {"content": content, **names}
    answer = await ada.post(
        "/v1/memories",
        content=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )

    if answer.status_code == 201 and answer.json()["duplicate_of"] is None:
        read = (await ada.get(answer.headers["Location"])).json()
        assert body.items() <= read.items()


@any_json
@given(query=TEXT, fields=some_fields(RecallQuery.model_fields, VALUE | TIME))
async def test_any_values_in_a_recall(ada, query, fields):
    await answered(ada, "/v1/recall", {**fields, "query": query})


@any_json
@given(query=TEXT, mode=st.sampled_from(["hybrid", "lexical", "vector", "exact"]))
async def test_any_text_is_a_query(ada, query, mode):
    await answered(ada, "/v1/recall", {"query": query, "mode": mode})
