"""Message sequences by three roads: the server's answers are the same, message for message.

Each script is one that some proxy has got wrong: what it lost, doubled, delayed or made up.
"""

from __future__ import annotations

import pytest

from gateway.protocol import frontend
from gateway.protocol.wire import Message
from tests.clients.conftest import Road, Roads
from tests.clients.wire import Wire

Q, P, B, D = frontend.Query, frontend.Parse, frontend.Bind, frontend.Describe
E, C, F, H, S = (
    frontend.Execute,
    frontend.Close,
    frontend.FunctionCall,
    frontend.Flush,
    frontend.Sync,
)
PI = (1610).to_bytes(4)  # the OID of pi()
RECALL = b"select 1 from recall($1) limit 0"
READY = b"select 1 from recall($1, query_embedding => 'm ! not asked for') limit 0"


def statement(sql: bytes, *values: bytes | None) -> tuple[Message, ...]:
    return P(b"", sql), B(b"", b"", (), values), D(b"P"), E()


# Each is sent in one go; so many ReadyForQuery end it.
SCRIPTS: dict[str, tuple[int, tuple[Message, ...]]] = {
    "empty queries": (3, (Q(b""), Q(b";"), Q(b"-- ping"))),
    "an empty query in the extended protocol": (1, (*statement(b""), S())),
    "several statements in one query": (1, (Q(b"select 1; select 2 as b; select 'x'"),)),
    "an error drops the rest of a query": (1, (Q(b"select 1; select 1/0; select 2"),)),
    "rows before an error in the middle": (
        1,
        (Q(b"select 1/(3-g) from generate_series(1,5) g"),),
    ),
    "notices, and rows between them": (
        1,
        (Q(b"do $$ begin raise notice 'a'; raise warning 'b'; end $$; select 1"),),
    ),
    "simple and extended in one packet": (
        3,
        (Q(b"set datestyle = 'German, DMY'"), *statement(b"select $1::int", b"1"), S(), Q(b"")),
    ),
    "two changed settings in a pipeline": (
        1,
        (
            *statement(b"select set_config('application_name', $1, false)", b"a"),
            *statement(b"select set_config('timezone', $1, false)", b"Asia/Tokyo"),
            *statement(b"select 1"),
            S(),
        ),
    ),
    "an error skips to the sync, and the next round goes on": (
        2,
        (*statement(b"select 1/0"), *statement(b"select 2"), S(), *statement(b"select 3"), S()),
    ),
    "two errors in two rounds": (2, (P(b"", b"selec"), S(), P(b"", b"selec"), S())),
    "a statement that isn't there": (2, (D(b"S", b"nowhere"), S(), *statement(b"select 1"), S())),
    "a portal that isn't there": (2, (E(b"nowhere"), S(), D(b"P", b"nowhere"), S())),
    "closing what isn't there": (1, (C(b"S", b"nowhere"), C(b"P", b"nowhere"), S())),
    "one transaction a sync": (
        2,
        (
            *statement(b"create temp table gone (n int) on commit drop"),
            *statement(b"select count(*) from gone"),
            S(),
            *statement(b"select count(*) from gone"),
            S(),
        ),
    ),
    "a name prepared twice": (2, (P(b"s", b"select 1"), P(b"s", b"select 2"), S(), S())),
    "a statement used over several syncs": (
        3,
        (P(b"", b"select $1::int"), S(), B(b"", b"", (), (b"7",)), S(), D(b"S"), S()),
    ),
    "a portal read in parts": (
        1,
        (
            P(b"", b"select g from generate_series(1, 5) g"),
            B(b"c", b""),
            E(b"c", 2),
            E(b"c", 2),
            E(b"c", 2),
            C(b"P", b"c"),
            S(),
        ),
    ),
    "given types, and types left to the server": (
        1,
        (P(b"s", b"select $1, $2, $3 + 1", (1043, 0, 23)), D(b"S", b"s"), S()),
    ),
    "binary values and results": (
        1,
        (
            P(b"", b"select $1::int, $2::text"),
            B(b"", b"", (1, 0), ((5).to_bytes(4), None), (1,)),
            D(b"P"),
            E(),
            S(),
        ),
    ),
    "more values than a signed count holds": (
        1,
        (
            P(b"", b"select 1 where 0 in (%b)" % b",".join(b"$%d" % n for n in range(1, 40_001))),
            B(b"", b"", (), [b"1"] * 40_000),
            E(),
            S(),
        ),
    ),
    "a count of values that's wrong": (1, (P(b"", b"select $1::int"), B(b"", b""), S())),
    "a wrong count of values for a recall": (
        2,
        (P(b"", READY), B(b"", b""), S(), B(b"", b"", (), (b"a", b"b")), S()),
    ),
    "a cursor that outlives its transaction": (
        4,
        (
            Q(b"begin; declare c cursor with hold for select g from generate_series(1, 4) g"),
            Q(b"commit"),
            Q(b"fetch 3 from c"),
            Q(b"close c"),
        ),
    ),
    "how a transaction is isolated": (1, (Q(b"show transaction isolation level"),)),
    "a failed transaction": (
        4,
        (Q(b"begin"), Q(b"select 1/0"), *statement(b"select 1"), S(), Q(b"rollback")),
    ),
    "a copy in one go": (
        3,
        (
            Q(b"create temp table t (n int)"),
            Q(b"copy t from stdin"),
            frontend.CopyData(b"1\n2"),
            frontend.CopyData(b"\n3\n"),
            frontend.CopyDone(),
            Q(b"select count(*) from t"),
        ),
    ),
    "a copy with a bad row, and what is sent behind it": (
        3,
        (
            Q(b"create temp table t (n int)"),
            Q(b"copy t from stdin"),
            frontend.CopyData(b"1\nx\n"),
            frontend.CopyData(b"2\n"),
            frontend.CopyDone(),
            Q(b"select count(*) from t"),
        ),
    ),
    "a copy that the client gives up": (
        3,
        (
            Q(b"create temp table t (n int)"),
            Q(b"copy t from stdin"),
            frontend.CopyFail(b"no more"),
            Q(b"select count(*) from t"),
        ),
    ),
    "stray messages of a copy": (
        1,
        (frontend.CopyData(b"x"), frontend.CopyDone(), frontend.CopyFail(b""), Q(b"select 1")),
    ),
    "a recall described behind a stray message of a copy": (
        1,
        (P(b"s", RECALL), frontend.CopyDone(), D(b"S", b"s"), frontend.CopyFail(b""), S()),
    ),
    "a copy out, in the extended protocol": (
        1,
        (*statement(b"copy (select g from generate_series(1, 3) g) to stdout"), S()),
    ),
    "a function call": (2, (F(PI + bytes(6)), Q(b"select 1"))),
    "a function call of what is none": (2, (F(b"\x7f\xff\xff\xff" + bytes(6)), Q(b"select 1"))),
    "notifications to oneself": (2, (Q(b"listen recall"), Q(b"notify recall, 'recall(''x'')'"))),
    "statements dropped by SQL": (
        3,
        (P(b"s", b"select 1"), S(), Q(b"deallocate s"), B(b"", b"s"), S()),
    ),
    "everything discarded": (3, (P(b"s", b"select 1"), S(), Q(b"discard all"), D(b"S", b"s"), S())),
    "a definition that calls recall in a string": (
        1,
        (Q(b"select 'recall(''x'')', $$recall('y')$$ as \"recall('z')\" -- recall('a')"),),
    ),
    "the wrong kind of bytes in a text": (1, (Q(b"select 'recall(''\xff'')'"),)),
}


async def told(road: Road, ready: int, sent: tuple[Message, ...]) -> list[tuple[str, bytes]]:
    """Everything that the server says of a script, but for its process id."""
    wire = await Wire.open(road.host, road.port)
    try:
        greeting = await wire.login(road)
        wire.send(*sent)
        answers = [one for _ in range(ready) for one in await wire.until("Z")]
        wire.send(frontend.Terminate())
        assert await wire.rest() == b""
    finally:
        wire.close()
    settings = [one for one in greeting if one[0] == "S"]
    own_process = 4  # of a NotificationResponse
    return sorted(settings) + [
        (tag, body[own_process:] if tag == "A" else body) for tag, body in answers
    ]


@pytest.mark.parametrize("name", SCRIPTS)
async def test_the_server_says_the_same_by_every_road(roads: Roads, name: str) -> None:
    straight = await told(roads.straight, *SCRIPTS[name])
    assert await told(roads.gateway, *SCRIPTS[name]) == straight
    assert await told(roads.split, *SCRIPTS[name]) == straight


@pytest.mark.parametrize("cut", [1, 2, 5, 6, 40])
async def test_what_is_flushed_comes_without_a_sync(roads: Roads, cut: int) -> None:
    """However the first rows are cut off from the rest, nobody waits for more."""
    for road in (roads.straight, roads.gateway, roads.split):
        wire = await Wire.open(road.host, road.port)
        await wire.login(road)
        stream = b"".join(
            one.encode()
            for one in (P(b"", b"select $1::text"), D(b"S"), B(b"", b"", (), (b"x",)), E(), H())
        )
        for start in range(0, len(stream), cut):
            wire.send(stream[start : start + cut])
            await wire.writer.drain()
        assert "".join(tag for tag, _ in await wire.until("C")) == "1tT2DC"
        wire.send(S())
        assert (await wire.message())[0] == "Z"
        wire.close()
