"""Every refusal is a problem document of a stable type, with nothing of ours in it."""

import httpx
import pytest
from structlog.testing import capture_logs

from rest import create_app
from sql.pool import create_pool
from sql.records import failed_embedding
from sql.store import MemoryStore
from tests.fronts.conftest import UNREACHABLE_DSN

JSON = {"Content-Type": "application/json"}


def assert_problem(answer: httpx.Response, status: int, name: str) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert problem["type"] == f"urn:problem-type:pgrecall:{name}"
    assert problem["status"] == status
    assert problem["title"]
    assert "Traceback" not in answer.text
    assert "select" not in answer.text.lower()


async def test_a_request_without_a_token_is_unauthenticated(connect):
    answer = await connect().get("/v1/memories")

    assert_problem(answer, 401, "unauthenticated")
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="pgrecall"'


@pytest.mark.parametrize("given", ["Bearer pgr_wrong", "Bearer ü", "Bearer " + "x" * 9_000])
async def test_a_wrong_token_is_unauthenticated(connect, given):
    answer = await connect().get("/v1/memories", headers={"Authorization": given.encode("latin-1")})

    assert_problem(answer, 401, "unauthenticated")
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]


async def test_a_password_is_no_token(connect):
    answer = await connect().get("/v1/memories", headers={"Authorization": "Basic YTpi"})

    assert_problem(answer, 401, "unauthenticated")


async def test_a_reader_may_not_write(connect, crew):
    answer = await connect("rita").post("/v1/memories", json={"content": "x", "space": crew})

    assert_problem(answer, 403, "forbidden")


async def test_another_agents_space_may_not_be_written(ada, agents):
    answer = await ada.post(
        "/v1/memories", json={"content": "x", "space": f"~{agents['bob'].agent}"}
    )

    assert_problem(answer, 403, "forbidden")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("content", ""),
        ("content", " \n\t"),
        ("content", "x" * 100_001),
        ("content", None),
        ("kind", "poetic"),
        ("importance", 1.5),
        ("importance", "high"),
        ("tags", ["ok", ""]),
        ("ttl", "soon"),
        ("metadata", [1]),
        ("colour", "red"),
    ],
)
async def test_a_wrong_field_is_named(ada, field, value):
    answer = await ada.post("/v1/memories", json={"content": "x", field: value})

    assert_problem(answer, 422, "invalid-input")
    assert answer.json()["errors"][0]["pointer"].startswith(f"/{field}")
    assert answer.json()["detail"].startswith(field)


@pytest.mark.parametrize(
    "text",
    [
        rb'"\ud800"',
        rb'"a\u0000b"',
        b'"x", "metadata": {"a": "\\udfff"}',
        b'"x", "metadata": {"\\u0000": 1}',
        b'"x", "metadata": {"a": Infinity}',
        b'"x", "metadata": {"a": 1e999}',
        b'"x", "metadata": ' + b'{"a":' * 60 + b"1" + b"}" * 60,
        b'"x", "ttl": 1e300',
        b'"x", "event_at": "0001-01-01T00:00:00+14:00"',
    ],
)
async def test_what_postgres_cannot_hold_is_refused_before_it(ada, text):
    answer = await ada.post("/v1/memories", content=b'{"content": ' + text + b"}", headers=JSON)

    assert_problem(answer, 422, "invalid-input")


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 50_000, b"null", b'"x"', b"[]"])
async def test_what_is_no_json_object_is_refused(ada, body):
    answer = await ada.post("/v1/memories", content=body, headers=JSON)

    assert answer.status_code in (400, 422)
    assert_problem(
        answer,
        answer.status_code,
        {400: "bad-request", 422: "invalid-input"}[answer.status_code],
    )


async def test_a_body_that_is_not_said_to_be_json_is_refused(ada):
    answer = await ada.post("/v1/memories", content=b'{"content": "x"}')

    assert_problem(answer, 422, "invalid-input")
    assert "Content-Type" in answer.json()["detail"]


@pytest.mark.parametrize("k", [0, 101, -1, "ten"])
async def test_k_out_of_range_is_refused(ada, k):
    answer = await ada.post("/v1/recall", json={"query": "x", "k": k})

    assert_problem(answer, 422, "invalid-input")
    assert answer.json()["errors"][0]["pointer"] == "/k"


@pytest.mark.parametrize("query", ["", "the of and", "!?…", "' or 1=1 --", "ADR-016", "a/b\\c"])
async def test_a_query_without_findable_words_finds_nothing_and_is_no_error(ada, query):
    answer = await ada.post("/v1/recall", json={"query": query})

    assert answer.status_code == 200
    assert answer.json()["results"] == []


async def test_a_space_that_nobody_knows_is_an_empty_answer(ada):
    answer = await ada.post("/v1/recall", json={"query": "x", "space": "nowhere"})

    assert answer.json()["results"] == []


@pytest.mark.parametrize(
    "path",
    [
        "/v1/memories/not-a-uuid",
        "/v1/memories?cursor=AAAA",
        "/v1/memories?cursor=%C3%BC",
        "/v1/memories?limit=0",
        "/v1/memories?limit=201",
        "/v1/memories?colour=red",
    ],
)
async def test_a_wrong_parameter_is_named(ada, path):
    answer = await ada.get(path)

    assert_problem(answer, 422, "invalid-input")
    assert answer.json()["errors"][0]["parameter"]


async def test_a_batch_of_none_or_too_many_is_refused(ada):
    for memories in [[], [{"content": "x"}] * 1_001]:
        answer = await ada.post("/v1/memories/batch", json={"memories": memories})
        assert_problem(answer, 422, "invalid-input")


async def test_unknown_paths_and_methods_are_refused(ada):
    assert_problem(await ada.get("/v1/nowhere"), 404, "not-found")
    assert_problem(await ada.get("/v1/memories/"), 404, "not-found")
    answer = await ada.put("/v1/recall", json={})
    assert_problem(answer, 405, "method-not-allowed")
    assert answer.headers["Allow"] == "POST"


async def no_embedding(_: str):
    return failed_embedding("none", "no embedder is set up")


async def test_health_answers_and_the_rest_says_503_while_the_database_is_away(connect):
    pool = await create_pool(UNREACHABLE_DSN, min_size=0)
    app = create_app(MemoryStore(pool, no_embedding), pool, version="0")
    client = connect("ada", app)

    assert (await client.get("/healthz")).json() == {"status": "ok"}
    ready = await client.get("/readyz")
    assert ready.status_code == 503
    assert ready.json()["database"] == "unreachable"
    assert "pgrecall_database_up 0.0" in (await client.get("/metrics")).text
    recalled = await client.post("/v1/recall", json={"query": "x"})
    assert_problem(recalled, 503, "unavailable")
    assert int(recalled.headers["Retry-After"]) >= 1
    await pool.close()


async def test_a_read_survives_the_death_of_the_servers_connections(ada, pool):
    created = await ada.post("/v1/memories", json={"content": "still here"})
    await pool.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where datname = current_database() and pid <> pg_backend_pid()"
    )

    answer = await ada.get(created.headers["Location"])

    assert answer.status_code == 200


async def test_an_unexpected_error_tells_only_the_requests_id(connect, pool):
    async def broken(_: str):
        raise RuntimeError("select secret from somewhere")

    app = create_app(MemoryStore(pool, broken), pool, version="0")
    with capture_logs() as logs:
        answer = await connect("ada", app).post(
            "/v1/recall", json={"query": "x"}, headers={"X-Request-Id": "mine-1"}
        )

    assert_problem(answer, 500, "unexpected")
    assert answer.json()["request_id"] == answer.headers["X-Request-Id"] == "mine-1"
    assert "secret" not in answer.text
    assert [log["log_level"] for log in logs if "exc_info" in log] == ["error"]
