"""psql of several majors through the gateway: what it prints is what it prints straight."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal

import pytest

from gateway import Gateway
from pgrecall.embedded import binaries
from tests.clients.conftest import Road

SYSTEM_PSQL = shutil.which("psql")
PSQLS = [pytest.param(str(binaries(major) / "psql"), id=f"wheel-{major}") for major in (16, 18)]
PSQLS.append(
    pytest.param(
        SYSTEM_PSQL,
        id="system",
        marks=pytest.mark.skipif(SYSTEM_PSQL is None, reason="no psql on this machine"),
    )
)
SAME_STRAIGHT = {
    "describe": "\\d memory.*",
    "tables": "\\dt *.*",
    "functions": "\\df+ memory.*",
    "roles": "\\du",
    "types": "\\dT",
    "several": "select 1; select 2 as b; notice; select 3",
    "empty": ";",
    "comment": "-- ping",
    "rows before an error": "select 1/(3-g) from generate_series(1,5) g",
    "notice": "do $$ begin raise notice 'recall(''x'')'; end $$",
    "error": "select * from nowhere where recall = 1",
    "caret": "select 'тест', nothing",
    "copy out": "copy (select * from generate_series(1, 3)) to stdout",
    "copy in": "create temp table t (n int)\\; copy t from stdin\n1\n2\n\\.\nselect * from t",
    "gdesc": "select 1 as a, 'x' as b \\gdesc",
    "bind": "select $1::int + $2::int \\bind 1 2 \\g",
    "verbose error": "\\set VERBOSITY verbose\nselect 1/0",
}


@pytest.fixture(params=PSQLS)
def psql(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def run(psql: str, road: Road, script: str, *arguments: str) -> tuple[str, str]:
    process = await asyncio.create_subprocess_exec(
        psql,
        "-X",
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **road.environment, "LC_ALL": "C.UTF-8"},
    )
    out, err = await asyncio.wait_for(process.communicate(script.encode()), 20)
    return out.decode(), err.decode()


async def test_what_psql_shows_is_what_it_shows_straight(
    psql: str, road: Road, direct: Road
) -> None:
    script = "\n".join(f"\\echo {name}\n{text}\n;\n" for name, text in SAME_STRAIGHT.items())
    assert await run(psql, road, script) == await run(psql, direct, script)


async def test_psql_recalls_by_both_legs(
    psql: str, road: Road, remembered: tuple[str, ...]
) -> None:
    script = """
        select content, vector_rank from recall('billing deploy rolled back', k => 1);
        explain (costs off) select * from recall($q$billing$q$);
        prepare by_text as select content from recall('short answers') limit 1; execute by_text;
        with best as (select * from memory.recall(E'ERR-4012\\n')) select content from best limit 1;
        begin; declare c cursor for select content from recall('billing'); fetch c; commit;
        create temp table kept as select * from recall('billing'); select count(*) from kept;
    """
    out, err = await run(psql, road, script, "-At")
    assert err == ""
    lines = out.splitlines()
    assert lines[0] == f"{remembered[0]}|1"
    assert remembered[1] in lines
    assert remembered[2] in lines
    assert lines[-1] == "3"


async def test_what_cannot_be_spliced_says_so_in_a_notice(
    psql: str, road: Road, remembered: tuple[str, ...]
) -> None:
    script = "select content from (values ('billing deploy')) q(t), recall(q.t) limit 1"
    out, err = await run(psql, road, script, "-At")
    assert out.splitlines() == [remembered[0]]
    assert "NOTICE" in err


async def test_ctrl_c_cancels_the_query(psql: str, road: Road) -> None:
    process = await asyncio.create_subprocess_exec(
        psql,
        "-XAt",
        "-c",
        "select 'ready'",
        "-c",
        "select pg_sleep(60)",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **road.environment},
    )
    assert process.stdout is not None
    async with await road.connect() as watcher:
        asleep = "select 1 from pg_stat_activity where wait_event = 'PgSleep' and usename = %s"
        async with asyncio.timeout(10):
            while await (await watcher.execute(asleep, [road.user])).fetchone() is None:
                pass
    process.send_signal(signal.SIGINT)
    out, err = await asyncio.wait_for(process.communicate(), 10)
    assert "canceling statement due to user request" in err.decode()
    assert out.decode().splitlines() == ["ready"]


WATCHED = "select 'seen', content from recall('billing deploy rolled back', k => 1)"


async def watching(psql: str, road: Road, times: int) -> asyncio.subprocess.Process:
    """psql that repeats a recall, and has done so for so many times."""
    process = await asyncio.create_subprocess_exec(
        *(psql, "-XAt", "-v", "ON_ERROR_STOP=1"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **road.environment, "PAGER": "", "PSQL_WATCH_PAGER": ""},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{WATCHED} \\watch 0.05\n".encode())
    process.stdin.close()
    seen = 0
    async with asyncio.timeout(20):
        while seen < times:
            seen += (await process.stdout.readline()).startswith(b"seen|The billing deploy")
    return process


async def test_watch_repeats_a_recall_until_ctrl_c(
    psql: str, road: Road, remembered: tuple[str, ...]
) -> None:
    process = await watching(psql, road, 3)
    process.send_signal(signal.SIGINT)
    _, err = await asyncio.wait_for(process.communicate(), 20)
    assert b"FATAL" not in err


async def test_watch_is_told_that_the_gateway_stops(
    psql: str, road: Road, gateway: Gateway, remembered: tuple[str, ...]
) -> None:
    process = await watching(psql, road, 2)
    await gateway.close()
    _, err = await asyncio.wait_for(process.communicate(), 20)
    assert "FATAL:  terminating connection due to administrator command" in err.decode()


async def test_psql_recalls_where_backslashes_escape_in_plain_strings(
    psql: str, road: Road, remembered: tuple[str, ...]
) -> None:
    script = r"""
        set standard_conforming_strings = off;
        set escape_string_warning = off;
        set backslash_quote = on;
        select content, vector_rank, degraded from recall('billing deploy\040rolled back', k => 1);
        select 'it\'s recall(''x'')', content from recall('\'short\' answers', k => 1);
        set standard_conforming_strings = on;
        select '\', content, vector_rank from recall('billing deploy rolled back', k => 1);
    """
    out, err = await run(psql, road, script, "-Atq")
    assert err == ""
    assert out.splitlines() == [
        f"{remembered[0]}|1|",
        f"it's recall('x')|{remembered[1]}",
        f"\\|{remembered[0]}|1",
    ]
