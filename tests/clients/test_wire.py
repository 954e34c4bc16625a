"""What no driver sends, and what all of them rely on, byte by byte."""

from __future__ import annotations

import pytest

from gateway.protocol import backend, frontend
from gateway.protocol.startup import CancelRequest
from gateway.protocol.wire import frame
from tests.clients.conftest import Road
from tests.clients.wire import Dial, Wire, running, sqlstate, tags

RECALL = b"select content from recall($1)"


async def test_a_bad_length_inside_a_session_ends_it(session: Wire) -> None:
    session.send(b"Q\x00\x00\x00\x03")
    tag, body = await session.message()
    assert (tag, sqlstate(body)) == ("E", "08P01")
    assert await session.rest() == b""


async def test_an_unknown_message_is_refused_by_postgres_itself(session: Wire) -> None:
    session.send(frame(ord("!"), b""))
    tag, body = await session.message()
    assert (tag, sqlstate(body)) == ("E", "08P01")
    assert b"invalid frontend message type" in body


async def test_a_long_key_cancels_from_any_connection(dial: Dial, road: Road) -> None:
    wire = await dial(road)
    (key,) = [body for tag, body in await wire.login(road, 2) if tag == "K"]
    wire.send(frontend.Query(b"select pg_sleep(60)"))
    told = backend.BackendKeyData.decode(key)
    await running(road, told.process_id)
    canceller = await dial(road)
    canceller.send(CancelRequest(told.process_id, told.secret_key).encode())
    assert await canceller.rest() == b""
    messages = await wire.until("Z")
    assert sqlstate(messages[-2][1]) == "57014"


async def test_an_error_comes_at_once_without_a_flush(session: Wire) -> None:
    session.send(frontend.Parse(b"", b"select recall( from"))
    tag, body = await session.message()
    assert (tag, sqlstate(body)) == ("E", "42601")
    session.send(frontend.Sync())
    assert (await session.message())[0] == "Z"


async def test_the_client_never_sees_the_hidden_parameter(
    session: Wire, remembered: tuple[str, ...]
) -> None:
    session.send(
        frontend.Parse(b"s", RECALL),
        frontend.Describe(b"S", b"s"),
        frontend.Bind(b"", b"s", (1,), (b"billing deploy",), (0,)),
        frontend.Execute(b"", 1),
        frontend.Sync(),
    )
    messages = await session.until("Z")
    assert tags(messages) == "1tT2DsZ"
    assert backend.ParameterDescription.decode(messages[1][1]).oids == (25,)
    assert backend.DataRow.decode(messages[4][1]).values == (remembered[0].encode(),)


@pytest.mark.parametrize("oids", [(), (0,), (25,), (1043,)])
@pytest.mark.parametrize("formats", [(), (0,), (1,), (0, 1)])
async def test_types_and_formats_of_the_client_stay_its_own(
    session: Wire, remembered: tuple[str, ...], oids: tuple[int, ...], formats: tuple[int, ...]
) -> None:
    number = (5).to_bytes(4) if formats in ((1,), (0, 1)) else b"5"
    session.send(
        frontend.Parse(b"", b"select content from recall($1, k => $2)", oids),
        frontend.Bind(b"", b"", formats, (b"billing deploy", number)),
        frontend.Execute(),
        frontend.Sync(),
    )
    messages = await session.until("Z")
    assert tags(messages) == "12DDDCZ"


async def test_a_bind_with_the_wrong_count_is_postgres_to_refuse(session: Wire) -> None:
    session.send(frontend.Parse(b"", RECALL), frontend.Bind(b"", b""), frontend.Sync())
    messages = await session.until("Z")
    assert tags(messages) == "1EZ"
    assert sqlstate(messages[1][1]) == "08P01"


async def test_a_named_statement_that_fails_to_be_parsed_again_keeps_its_hidden_parameter(
    session: Wire, remembered: tuple[str, ...]
) -> None:
    session.send(frontend.Parse(b"s", RECALL), frontend.Sync())
    assert tags(await session.until("Z")) == "1Z"
    session.send(
        frontend.Parse(b"s", b"select 1"),
        frontend.Sync(),
        frontend.Bind(b"", b"s", (), (b"billing deploy",)),
        frontend.Describe(b"S", b"s"),
        frontend.Execute(b"", 1),
        frontend.Sync(),
    )
    assert tags(await session.until("Z")) == "EZ"
    assert tags(await session.until("Z")) == "2tTDsZ"


async def test_everything_behind_an_error_is_ignored_up_to_the_sync(session: Wire) -> None:
    session.send(
        frontend.Parse(b"", b"select * from nowhere"),
        frontend.Bind(b"", b""),
        frontend.Query(b"select recall('x')"),
        frontend.Close(b"S", b"a"),
        frontend.Sync(),
        frontend.Query(b"select 1"),
    )
    assert tags(await session.until("Z")) == "EZ"
    assert tags(await session.until("Z")) == "TDCZ"


async def test_a_copy_may_be_sent_in_one_go(session: Wire) -> None:
    session.send(
        frontend.Query(b"create temp table t (n int)"),
        frontend.Query(b"copy t from stdin"),
        frontend.CopyData(b"1\n2"),
        frontend.CopyData(b"\n"),
        frontend.CopyDone(),
        frontend.Query(b"select count(*) from t"),
    )
    assert tags(await session.until("Z")) == "CZ"
    assert tags(await session.until("Z")) == "GCZ"
    assert tags(await session.until("Z")) == "TDCZ"


async def test_syncs_inside_a_copy_and_stray_copy_messages_are_ignored(session: Wire) -> None:
    session.send(
        frontend.CopyData(b"stray"),
        frontend.CopyDone(),
        frontend.Query(b"create temp table t (n int)"),
    )
    assert tags(await session.until("Z")) == "CZ"
    session.send(
        frontend.Parse(b"", b"copy t from stdin"),
        frontend.Bind(b"", b""),
        frontend.Execute(),
        frontend.Sync(),
        frontend.CopyData(b"1\n"),
        frontend.CopyDone(),
        frontend.Sync(),
        frontend.Parse(b"", RECALL),
        frontend.Bind(b"", b"", (), (b"x",)),
        frontend.Execute(),
        frontend.Sync(),
    )
    assert tags(await session.until("Z")) == "12GCZ"
    assert tags(await session.until("Z")).startswith("12")


async def test_a_function_call_passes(session: Wire) -> None:
    session.send(frontend.Query(b"select 'pg_backend_pid'::regproc::oid"))
    oid = int(backend.DataRow.decode((await session.until("Z"))[1][1]).values[0] or 0)
    session.send(frontend.FunctionCall(oid.to_bytes(4) + bytes(6)))
    assert tags(await session.until("Z")) == "VZ"
