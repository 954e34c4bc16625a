"""What stands before the routes: names, rates, sizes, headers."""

import pytest

from rest import Limits, create_app


@pytest.fixture
def guarded(store, pool, connect):
    def make(name: str | None = "ada", **about):
        return connect(name, create_app(store, pool, version="0", **about))

    return make


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8499", "127.0.0.1.evil.example", ""]
)
async def test_a_host_name_that_is_not_ours_is_refused(ada, host):
    answer = await ada.get("/healthz", headers={"Host": host})

    assert answer.status_code == 421
    assert answer.json()["type"] == "urn:problem-type:pgrecall:misdirected"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8499", "[::1]:8499"])
async def test_the_names_of_this_machine_are_served(ada, host):
    assert (await ada.get("/healthz", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://[bad"])
async def test_requests_of_other_sites_are_refused(ada, origin):
    answer = await ada.post("/v1/recall", json={"query": "x"}, headers={"Origin": origin})

    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


async def test_requests_of_our_own_pages_are_served(ada):
    answer = await ada.get("/v1/memories", headers={"Origin": "http://localhost:8499"})

    assert answer.status_code == 200


async def test_where_every_name_is_ours_a_page_must_come_from_the_one_it_asks(guarded):
    client = guarded(hosts=["*"])

    async def status(origin: str) -> int:
        headers = {"Host": "any.example:8499", "Origin": origin}
        return (await client.get("/v1/memories", headers=headers)).status_code

    assert await status("https://any.example") == 200
    for origin in ("https://evil.example", "null", "http://[bad"):
        assert await status(origin) == 403


async def test_given_host_names_replace_those_of_the_machine(guarded):
    client = guarded(hosts=["memory.example"])

    assert (await client.get("/healthz")).status_code == 421
    named = await client.get("/healthz", headers={"Host": "memory.example"})
    assert named.status_code == 200


async def test_a_large_body_is_refused_by_its_declared_length(guarded):
    client = guarded(limits=Limits(max_body_bytes=1_000))

    answer = await client.post("/v1/recall", json={"query": "x" * 1_000})

    assert answer.status_code == 413
    assert answer.json()["type"] == "urn:problem-type:pgrecall:too-large"


async def test_a_large_body_is_refused_by_what_came(guarded):
    client = guarded(limits=Limits(max_body_bytes=1_000))

    async def chunks():
        for _ in range(5):
            yield b" " * 300

    answer = await client.post("/v1/recall", content=chunks())

    assert answer.status_code == 413


async def test_too_many_requests_of_a_token_wait_while_others_are_served(guarded, agents):
    client = guarded(limits=Limits(requests_per_minute=3))

    statuses = [(await client.get("/v1/memories")).status_code for _ in range(4)]
    refused = await client.get("/v1/memories")
    bearer = {"Authorization": f"Bearer {agents['bob'].token}"}
    other = await client.get("/v1/memories", headers=bearer)

    assert statuses == [200, 200, 200, 429]
    assert refused.json()["type"] == "urn:problem-type:pgrecall:too-many-requests"
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert other.status_code == 200
    assert (await client.get("/healthz")).status_code == 200


async def test_guessing_tokens_shuts_an_address_out_but_for_known_good_ones(guarded, agents):
    client = guarded(None, limits=Limits(failures_per_minute=3))
    good = {"Authorization": f"Bearer {agents['ada'].token}"}
    assert (await client.get("/v1/memories", headers=good)).status_code == 200

    statuses = [
        (await client.get("/v1/memories", headers={"Authorization": f"Bearer {guess}"})).status_code
        for guess in range(5)
    ]

    assert statuses == [401, 401, 401, 429, 429]
    assert (await client.get("/v1/memories", headers=good)).status_code == 200


async def test_answers_carry_a_request_id_and_safe_headers(ada):
    answer = await ada.get("/v1/memories", headers={"X-Request-Id": "not\tplain"})

    assert len(answer.headers["X-Request-Id"]) == 32
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]


async def test_readiness_tells_the_parts(ada):
    await ada.post("/v1/memories", json={"content": "waits for its vector"})

    answer = await ada.get("/readyz")

    assert answer.status_code == 200
    told = answer.json()
    assert told.pop("embedding_backlog") >= 1
    assert told == {"database": "ok", "migrations": "ok", "embedder": "hash"}


async def test_metrics_count_requests_by_route_and_not_by_id(ada):
    created = await ada.post("/v1/memories", json={"content": "x"})
    await ada.get(created.headers["Location"])
    await ada.get("/nowhere")

    text = (await ada.get("/metrics")).text

    assert 'method="GET",route="/v1/memories/{id}",status="200"' in text
    assert 'route="none",status="404"' in text
    assert created.json()["id"] not in text
