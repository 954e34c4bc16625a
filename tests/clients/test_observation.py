"""What operators see of the sessions: counts and logs, without secrets."""

from __future__ import annotations

import asyncio

import psycopg
import pytest
from prometheus_client import REGISTRY

from gateway import Gateway
from tests.clients.conftest import Road


async def test_sessions_splices_and_refusals_are_counted(
    road: Road, gateway: Gateway, remembered: tuple[str, ...]
) -> None:
    def counted(name: str, **labels: str) -> float:
        return REGISTRY.get_sample_value(f"pgrecall_gateway_{name}", labels) or 0

    names = ("logins_total", "splices_total", "sessions")
    before = [counted(name) for name in names]
    refused = counted("refusals_total", reason="password", sqlstate="28P01")
    async with await road.connect() as connection:
        await connection.execute("select * from recall('x') a, recall('y') b")
        assert counted("sessions") == before[2] + 1
    with pytest.raises(psycopg.OperationalError):
        await road.connect(password="wrong")
    await gateway.close()
    assert [counted(name) for name in names] == [before[0] + 1, before[1] + 2, before[2]]
    assert counted("refusals_total", reason="password", sqlstate="28P01") == refused + 1


async def test_no_secret_and_no_text_is_logged(
    road: Road, remembered: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    async with await road.connect() as connection:
        await connection.execute("select * from recall('a private question')")
        await connection.execute("select remember(%s)", ["a private memory"])
        for sql in ("select private from recall('private')", "select recall('private'", "private"):
            with pytest.raises(psycopg.Error):
                await connection.execute(sql)
        running_query = asyncio.create_task(
            connection.execute("select pg_sleep(60), recall('private')")
        )
        while not running_query.done():
            await connection.cancel_safe()
            await asyncio.wait([running_query], timeout=0.05)
        with pytest.raises(psycopg.errors.QueryCanceled):
            await running_query
    for change in ({"password": "private"}, {"options": "-c private=private"}):
        with pytest.raises(psycopg.OperationalError):
            await road.connect(**change)
    logged = capsys.readouterr().out
    assert f"role={road.user}" in logged
    assert "address=127.0.0.1" in logged
    assert "backend_pid" in logged
    assert "private" not in logged
    assert road.password not in logged
