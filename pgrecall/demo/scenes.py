"""What the demo does, scene by scene; each shows the command that a user would type."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pgrecall import __version__
from pgrecall.demo import roads
from pgrecall.demo.sample import SPACES, load_sample
from pgrecall.demo.stage import DemoFailed, Stage
from pgrecall.demo.story import Story
from pgrecall.embedded import EmbeddedPostgres
from sql.agents import Secrets, add_agent
from sql.pool import create_pool

AGENTS = ("ada", "dasha", "grace", "linus")

_EMBEDDING_SECONDS = 300.0
_POLL_SECONDS = 0.1

_BILLING = """\
SELECT rank, title, round(score::numeric, 3) AS score, lexical_rank AS lex, vector_rank AS vec
FROM recall('how did we get billing back after the bad release', k => 3);"""

_QUESTION_RU = "как вернуть деньги клиенту"
_REFUND_RU = "SELECT title, space FROM recall(%s, k => 3)"

_REFUNDS = """\
SELECT entity, count(*), max(event_at)::date AS last
FROM recall('customer asked for a refund', k => 8, tags => '{customer}',
            since => now() - interval '90 days')
GROUP BY entity ORDER BY 2 DESC, 3 DESC LIMIT 5;"""

_CORRECTED = """\
SELECT 'today' AS asked_for, version, substring(content FROM 'listens on port \\d+') AS answer
FROM recall('which port does the bastion use', k => 1)
UNION ALL
SELECT '60 days ago', version, substring(content FROM 'listens on port \\d+')
FROM recall('which port does the bastion use', k => 1, as_of => now() - interval '60 days');"""

_OVERVIEW = """\
SELECT space, count(*), count(DISTINCT agent) AS agents, max(event_at)::date AS latest
FROM memories GROUP BY space ORDER BY space;"""

_NEWEST = """SELECT agent, title, created_at::time(0) AS at
FROM memories ORDER BY created_at DESC LIMIT 1;"""

_SPACE_OPTIONS = " ".join(f"--space {space}" for space in SPACES)

_JQ = ".results[] | [.rank, .space, .title]"

_DRILL = {
    "title": "Rollback drill",
    "content": "From alarm to green in 3 min 40 s; Argo was paused first.",
    "space": "infra",
}
_DRILL_QUESTION = {"query": "what comes first in a rollback", "k": 3}


@dataclass(frozen=True, slots=True)
class Cast:
    """Where the demo plays, and who plays in it; `reader` asks by SQL."""

    stage: Stage
    agents: dict[str, Secrets]
    reader: Secrets

    @property
    def psql_url(self) -> str:
        """Where the reader connects, without the password."""
        return self.stage.endpoints.gateway.url(self.reader.agent)

    @property
    def driver_url(self) -> str:
        """The same with the password."""
        return self.stage.endpoints.gateway.url(self.reader.agent, self.reader.password)


async def gather(stage: Stage) -> Cast:
    """Make the agents that remember, and one that only reads."""
    pool = await create_pool(EmbeddedPostgres(stage.state).app_dsn, max_size=1)
    try:
        agents = {name: await add_agent(pool, name, spaces=SPACES) for name in AGENTS}
        reader = await add_agent(pool, "analyst", sql_login=True, reader=True, spaces=SPACES)
    finally:
        await pool.close()
    return Cast(stage, agents, reader)


async def headline(story: Story, cast: Cast) -> None:
    """Say which versions are at work."""
    rows = await roads.fetch(
        cast.driver_url,
        "SELECT current_setting('server_version'), extversion FROM pg_extension"
        " WHERE extname = 'vector'",
    )
    told = await roads.readiness(cast.stage)
    postgres, pgvector = rows[0]
    story.headline(
        f"pgrecall {__version__} · embedded PostgreSQL {str(postgres).split()[0]}, "
        f"pgvector {pgvector} · {told['embedder'] or 'no embedder, recall by words alone'}"
    )


async def remember(story: Story, cast: Cast) -> None:
    """Let the agents remember the sample over REST."""
    story.chapter("Four agents remember, over REST")
    story.command(
        "$",
        f"for agent in {' '.join(AGENTS)}; do\n  pgrecall agent add $agent {_SPACE_OPTIONS}\ndone",
    )
    story.command(
        "$",
        _curl(
            cast, "/v1/memories/batch", '{"memories": [{"content": "…", "space": "billing"}, …]}'
        ),
    )
    sample = load_sample(datetime.now(UTC))
    ids: set[str] = set()
    for name, secrets in cast.agents.items():
        memories = [
            record.memory.model_dump(mode="json", exclude_unset=True)
            for record in sample
            if record.agent == name
        ]
        body = {"memories": memories}
        answer = await roads.post(cast.stage, "/v1/memories/batch", body, token=secrets.token)
        ids.update(memory["id"] for memory in answer["memories"])
    story.output(
        f"remembered {len(ids)} memories in {len(SPACES)} spaces, "
        f"{len(sample) - len(ids)} of them corrected since"
    )
    if (await roads.readiness(cast.stage))["embedder"]:
        await _embedded(story, cast.stage, len(sample))


async def _embedded(story: Story, stage: Stage, total: int) -> None:
    with story.progress("embedding", total) as bar:
        try:
            async with asyncio.timeout(_EMBEDDING_SECONDS):
                while (backlog := (await roads.readiness(stage))["embedding_backlog"]) != 0:
                    if backlog is not None:  # None: the database has no time to say
                        bar.show(max(0, total - backlog))
                    await asyncio.sleep(_POLL_SECONDS)
        except TimeoutError:
            message = f"the memories were not embedded within {_EMBEDDING_SECONDS:.0f} s"
            raise DemoFailed(message, hint=f"{backlog} of {total} are left") from None
        bar.show(total)


async def ask_from_psql(story: Story, cast: Cast) -> None:
    """Recall with a literal."""
    story.chapter("psql: the gateway embeds the text on its way to Postgres")
    story.command("$", f"pgrecall agent add analyst --sql --reader \\\n  {_SPACE_OPTIONS}")
    story.command("$", f"psql {cast.psql_url}")
    for statement in (_OVERVIEW, _BILLING):
        await _show(story, cast, statement)


async def bind_a_parameter(story: Story, cast: Cast) -> None:
    """Recall with a bind parameter, in Russian."""
    story.chapter("Any driver: psycopg with a bind parameter, in another language")
    story.command(">>>", f'connection.execute("{_REFUND_RU}", ["{_QUESTION_RU}"]).fetchall()')
    for row in await roads.fetch(cast.driver_url, _REFUND_RU, [_QUESTION_RU]):
        story.output(str(row))


async def group(story: Story, cast: Cast) -> None:
    """Treat recall() as the table that it is."""
    story.chapter("recall() is a table: filter it, group it, join it")
    await _show(story, cast, _REFUNDS)


async def look_back(story: Story, cast: Cast) -> None:
    """Ask what was known before a fact was corrected."""
    story.chapter("A fact that was corrected keeps its past")
    await _show(story, cast, _CORRECTED)


async def ask_rest(story: Story, cast: Cast) -> None:
    """Recall over REST."""
    story.chapter("REST: the same memories, the same ranking")
    body = {"query": "ERR-4012", "k": 3}
    story.command("$", _curl(cast, "/v1/recall", json.dumps(body)) + f" | jq -c '{_JQ}'")
    answer = await roads.post(cast.stage, "/v1/recall", body, token=cast.reader.token)
    _show_results(story, answer)


async def ask_mcp(story: Story, cast: Cast) -> None:
    """Remember and recall over MCP as an agent, and see it in psql at once."""
    story.chapter("MCP: grace remembers and recalls, psql sees it at once")
    story.note(f"{cast.stage.endpoints.mcp} over streamable HTTP; over stdio: pgrecall mcp")
    calls: list[tuple[str, dict[str, Any]]] = [("remember", _DRILL), ("recall", _DRILL_QUESTION)]
    token = cast.agents["grace"].token
    answers = await roads.call_tools(cast.stage, token, calls)
    for (tool, arguments), answer in zip(calls, answers, strict=True):
        story.command("tool>", f"{tool} {json.dumps(arguments)}")
        if tool == "recall":
            _show_results(story, answer)
    await _show(story, cast, _NEWEST)


def _curl(cast: Cast, path: str, body: str) -> str:
    return (
        f"curl -s {cast.stage.endpoints.http}{path} \\\n"
        "  -H \"Authorization: Bearer $PGRECALL_TOKEN\" -H 'Content-Type: application/json' \\\n"
        f"  -d '{body}'"
    )


async def _show(story: Story, cast: Cast, statement: str) -> None:
    story.command("memory=>", statement)
    story.output(await roads.psql(cast.psql_url, cast.reader.password or "", statement))


def _show_results(story: Story, answer: dict[str, Any]) -> None:
    for found in answer["results"]:
        line = [found["rank"], found["space"], found["title"]]
        story.output(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
    if answer.get("degraded"):
        story.note(f"degraded: {answer['degraded']}")


ALL = (
    headline,
    remember,
    ask_from_psql,
    bind_a_parameter,
    group,
    look_back,
    ask_rest,
    ask_mcp,
)
