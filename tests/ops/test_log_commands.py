"""`pgrecall verify` and `pgrecall log`: online, from a file, and against heads noted before."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from typer.testing import CliRunner

from pgrecall.cli import app
from pgrecall.errors import PgrecallError
from pgrecall.heads import BadHeads, NotedHeads, known_public_key, public_text
from pgrecall.state_folder import StateFolder
from sql.events import Head
from tests.conftest import short_lived_folder
from tests.ops.processes import Up, connect, pgrecall, remember, running_up

HEADS = NotedHeads("2026-03-01T12:00:00Z", (Head("infra", "ada", 7, "ab" * 32),))


@pytest.fixture(scope="module")
def up() -> Iterator[Up]:
    with short_lived_folder() as folder, running_up(folder / "state") as running:
        running.ready()
        with connect(running) as connection:
            for number in range(3):
                remember(connection, f"fact {number}")
        yield running


@pytest.fixture
def folder(up: Up) -> Path:
    return up.state.path.parent


Run = Callable[..., str]


@pytest.fixture
def run(up: Up, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process, which is faster by seconds; answers what it wrote."""
    monkeypatch.setattr("pgrecall.logs.configure_logging", lambda *_: None)

    def call(*arguments: str | Path, expect: int = 0) -> str:
        given = [*map(str, arguments), "--state-dir", str(up.state.path)]
        result = CliRunner().invoke(app, given, env={"COLUMNS": "400"})
        if isinstance(result.exception, PgrecallError):
            assert expect == result.exception.exit_code, result.exception
            return f"error: {result.exception.message}"
        assert result.exit_code == expect, result.output
        return result.output

    return call


def as_superuser(run: Run, statement: str) -> None:
    dsn = json.loads(run("status", "--json"))["database_dsn"]
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(statement)


def test_the_commands_by_themselves_print_and_end_as_shells_expect(up: Up) -> None:
    answer = json.loads(pgrecall(up.state.path, "verify", "--json").stdout)
    assert answer["valid"]
    exported = pgrecall(up.state.path, "log", "export")
    assert json.loads(exported.stdout.splitlines()[0])["type"] == "log"
    assert "exported" in exported.stderr
    refused = pgrecall(up.state.path, "verify", "--space", "nowhere", expect=1)
    assert "no chain in space nowhere" in refused.stderr


def test_an_honest_log_is_valid_online_and_from_a_file_and_holds_its_heads(up, run, folder):
    log, heads = folder / "log.jsonl", folder / "heads.json"
    said = run("log", "export", log)
    assert "exported " in said
    run("log", "heads", heads, "--sign")
    key = run("log", "key").strip()
    with connect(up) as connection:
        remember(connection, "the log goes on")

    assert ": valid" in run("verify")
    assert ": valid" in run("verify", "--file", log)
    told = run("verify", "--heads", heads)
    assert f"signed by {key}" in told.replace("\n", "")
    run("verify", "--file", log, "--heads", heads, "--public-key", key)
    answer = json.loads(run("verify", "--json", "--space", "~me"))
    assert answer["valid"]
    assert [chain["space"] for chain in answer["chains"]] == ["~me"]
    assert "fact 0" not in log.read_text()


def test_the_signing_key_is_private_and_stays_the_same(up, run):
    first, second = run("log", "key"), run("log", "key")

    assert first == second
    assert stat.S_IMODE(up.state.signing_key_file.stat().st_mode) == 0o600


def test_a_log_that_was_tampered_with_makes_verify_end_with_1(run, folder):
    log, heads = folder / "tampered.jsonl", folder / "kept.json"
    run("log", "heads", heads, "--sign")
    change = "update pgrecall.events set at = at %s interval '1 s' where sequence = 5"
    as_superuser(run, change % "-")
    try:
        told = run("verify", expect=1)
        assert "event 5 was changed" in told
        run("log", "export", log)
        assert "event 5 was changed" in run("verify", "--file", log, expect=1)
        answer = json.loads(run("verify", "--json", expect=1))
        assert [chain["first_bad"] for chain in answer["chains"]] == [5]
    finally:
        as_superuser(run, change % "+")
    run("verify", "--heads", heads)


def test_an_older_state_that_was_put_back_is_shown_by_the_heads(run, folder):
    heads = folder / "later.json"
    run("log", "heads", heads, "--sign")
    as_superuser(
        run,
        "create table public.kept as select e.* from pgrecall.events e"
        " join pgrecall.chain_heads using (space, agent, sequence);"
        "create table public.versions as select m.id, m.version from pgrecall.memories m"
        " join public.kept using (id);"
        "update pgrecall.chain_heads h set sequence = e.sequence, hash = e.hash,"
        " previous_hash = e.previous_hash from pgrecall.events e where e.space = h.space"
        " and e.agent = h.agent and e.sequence = h.sequence - 1;"
        "delete from pgrecall.events e using public.kept k where e.sequence = k.sequence;"
        "update pgrecall.memories set superseded_at = null where false",
    )
    told = run("verify", "--heads", heads, expect=1)
    assert "an older state was put back" in told.replace("\n", " ")
    as_superuser(
        run,
        "insert into pgrecall.events select * from public.kept;"
        "update pgrecall.chain_heads h set sequence = k.sequence, hash = k.hash,"
        " previous_hash = k.previous_hash from public.kept k where k.space = h.space"
        " and k.agent = h.agent; drop table public.kept, public.versions",
    )
    run("verify", "--heads", heads)


def test_what_makes_no_sense_is_refused_in_words(run, folder):
    other = public_text(Ed25519PrivateKey.generate().public_key())
    heads, bare, wrong = folder / "h.json", folder / "bare.json", folder / "wrong"
    run("log", "heads", heads, "--sign")
    run("log", "heads", bare)
    wrong.write_bytes(b"\xff\x00 no file of ours")

    for arguments, words in (
        (("--space", "nowhere"), "no chain in space nowhere"),
        (("--file", "/nonexistent"), "can't be read"),
        (("--file", wrong), "line 1 is no JSON"),
        (("--file", heads), "no whole export"),
        (("--heads", "/nonexistent"), "can't be read"),
        (("--heads", wrong), "can't be read"),
        (("--heads", heads, "--public-key", other), "not signed by the key"),
        (("--heads", heads, "--public-key", "abc"), "64 hex digits"),
        (("--heads", bare, "--public-key", other), "not signed"),
    ):
        assert words in run("verify", *arguments, expect=1).replace("\n", " ")
    assert ": valid" in run("verify", "--heads", bare)
    said = run("log", "export", "/nonexistent/log", expect=1)
    assert "can't be written" in said


def test_signed_heads_are_bound_to_every_field_and_to_their_key(tmp_path):
    key = Ed25519PrivateKey.generate()
    signed = HEADS.signed(key)
    again = NotedHeads.parse(signed.text())
    assert again == signed
    again.check(key.public_key())

    head = HEADS.heads[0]
    for heads, taken_at in (
        ((), HEADS.taken_at),
        ((head, head), HEADS.taken_at),
        ((Head(head.space, head.agent, 6, head.hash),), HEADS.taken_at),
        ((Head(head.space, "bob", 7, head.hash),), HEADS.taken_at),
        ((Head("infraa", "da", 7, head.hash),), HEADS.taken_at),
        ((Head(head.space, head.agent, 7, "ac" * 32),), HEADS.taken_at),
        (HEADS.heads, "2026-03-02T12:00:00Z"),
    ):
        changed = NotedHeads(taken_at, heads, signed.public_key, signed.signature)
        with pytest.raises(BadHeads, match="changed since"):
            changed.check(key.public_key())
    with pytest.raises(BadHeads, match="were not signed by"):
        signed.check(Ed25519PrivateKey.generate().public_key())
    with pytest.raises(BadHeads, match="are not signed"):
        HEADS.check(key.public_key())
    assert known_public_key(StateFolder(tmp_path), None) is None


@pytest.mark.parametrize(
    "text",
    [
        *("", "{}", "[]", "null", "\x00", '{"format": "pgrecall heads 1"}', "[" * 100_000),
        HEADS.text().replace("heads 1", "heads 2"),
        HEADS.text().replace("7", "7.5"),
        HEADS.text().replace("7", '"7"'),
        HEADS.text().replace("7", "-1"),
        HEADS.text().replace("7", "9223372036854775808"),
        HEADS.text().replace("abab", "xyxy"),
        HEADS.text().replace('"infra"', "null"),
        HEADS.text().replace('"infra"', '"\\ud800"'),
        HEADS.text().replace('"agent"', '"agents"'),
    ],
)
def test_a_file_that_holds_no_heads_is_refused(text):
    with pytest.raises(BadHeads, match="not a file of heads"):
        NotedHeads.parse(text)
