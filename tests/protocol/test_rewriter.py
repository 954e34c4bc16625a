"""One session's two directions: what is spliced into what, by what the server said before."""

from __future__ import annotations

import pytest

from gateway.protocol import backend, frontend
from gateway.rewriter import BUSY, MAX_HELD_BYTES, Rewriter
from gateway.spliced import Spliced

OID = 16_400


def spliced(
    rewriter: Rewriter, message: frontend.Query | frontend.Parse | frontend.Bind
) -> Spliced:
    (piece,) = rewriter.client_bytes(message.encode())
    assert not isinstance(piece, bytes)
    return piece


def settings(rewriter: Rewriter, **values: str) -> None:
    for name, value in values.items():
        status = backend.ParameterStatus(name.encode(), value.encode())
        assert rewriter.server_bytes(status.encode()) == [status.encode()]


def test_a_literal_is_put_in_and_nothing_else_changes() -> None:
    piece = spliced(Rewriter(OID), frontend.Query("select 'ё' , recall('как' ) ; --".encode()))
    assert [one.text for one in piece.wanted] == ["как"]
    sent = frontend.Query.decode(piece.render(["m [1]"])[5:])
    assert sent.sql.decode() == "select 'ё' , recall('как' , query_embedding => 'm [1]') ; --"


def test_a_text_that_gets_no_embedding_stays_as_it_was() -> None:
    query = frontend.Query(b"select remember('a'), recall('b')")
    sent = frontend.Query.decode(spliced(Rewriter(OID), query).render([None, "m [1]"])[5:])
    assert sent.sql == b"select remember('a'), recall('b', query_embedding => 'm [1]')"


def test_backslashes_are_read_as_the_session_reads_them() -> None:
    rewriter = Rewriter(OID)
    query = frontend.Query(rb"select recall('it\'s')")
    assert rewriter.client_bytes(query.encode()) == [query.encode()]
    settings(rewriter, standard_conforming_strings="off")
    assert [one.text for one in spliced(rewriter, query).wanted] == ["it's"]


@pytest.mark.parametrize(
    ("encoding", "codec"), [("LATIN1", "latin-1"), ("KOI8R", "koi8_r"), ("EUC_JP", "euc_jp")]
)
def test_texts_are_read_in_the_clients_encoding(encoding: str, codec: str) -> None:
    rewriter = Rewriter(OID)
    settings(rewriter, client_encoding=encoding)
    text = {"latin-1": "déjà", "koi8_r": "как", "euc_jp": "課金"}[codec]
    query = frontend.Query(f"select recall('{text}')".encode(codec))
    piece = spliced(rewriter, query)
    assert [one.text for one in piece.wanted] == [text]
    assert text.encode(codec) in piece.render(["m [1]"])


@pytest.mark.parametrize("encoding", ["SJIS", "BIG5", "GBK", "GB18030", "UHC", "JOHAB", "X"])
def test_encodings_that_can_hide_a_quote_are_left_alone(encoding: str) -> None:
    rewriter = Rewriter(OID)
    settings(rewriter, client_encoding=encoding)
    query = frontend.Query(b"select recall('x')").encode()
    assert rewriter.client_bytes(query) == [query]


def test_bytes_that_are_no_text_are_left_for_postgres_to_refuse() -> None:
    query = frontend.Query(b"select recall('\xff')").encode()
    assert Rewriter(OID).client_bytes(query) == [query]


def test_without_the_type_a_parameter_stays_alone_and_a_literal_does_not() -> None:
    rewriter = Rewriter(None)
    parse = frontend.Parse(b"", b"select recall($1)").encode()
    assert rewriter.client_bytes(parse) == [parse]
    assert spliced(rewriter, frontend.Parse(b"", b"select recall('x')")).wanted


def test_hidden_parameters_come_after_every_known_one() -> None:
    parse = frontend.Parse(b"", b"select recall($2), $1, remember($2), recall($2)", (25, 0, 23))
    piece = spliced(Rewriter(OID), parse)
    sent = frontend.Parse.decode(piece.render([])[5:])
    assert sent.oids == (25, 0, 23, OID, OID)
    assert sent.sql == (
        b"select recall($2, query_embedding => $4), $1,"
        b" remember($2, query_embedding => $5), recall($2, query_embedding => $4)"
    )


@pytest.mark.parametrize(
    ("given", "sent"), [((), ()), ((0,), (0,)), ((1,), (1, 1, 0)), ((1, 0), (1, 0, 0))]
)
def test_format_codes_are_kept_and_the_hidden_one_is_text(
    given: tuple[int, ...], sent: tuple[int, ...]
) -> None:
    rewriter = Rewriter(OID)
    rewriter.client_bytes(frontend.Parse(b"s", b"select recall($1), $2").encode())
    bind = frontend.Bind(b"p", b"s", given, (b"how", None), (1,))
    rendered = frontend.Bind.decode(spliced(rewriter, bind).render(["m [1]"])[5:])
    assert tuple(rendered.formats) == sent
    assert rendered.values == (b"how", None, b"m [1]")
    assert (rendered.portal, rendered.result_formats) == (b"p", (1,))


def test_a_statement_with_every_parameter_taken_gets_no_hidden_one() -> None:
    parse = frontend.Parse(b"", b"select recall($65535)").encode()
    assert Rewriter(OID).client_bytes(parse) == [parse]


def test_a_text_above_the_cap_passes_unseen_and_its_answer_is_still_counted() -> None:
    rewriter = Rewriter(OID)
    huge = frontend.Query(b"select recall('x') -- " + bytes(MAX_HELD_BYTES).replace(b"\0", b"x"))
    passed = b"".join(
        piece
        for start in range(0, len(huge.encode()), 1 << 20)
        for piece in rewriter.client_bytes(huge.encode()[start : start + (1 << 20)])
        if isinstance(piece, bytes)
    )
    assert passed == huge.encode()
    rewriter.server_bytes(backend.ReadyForQuery(b"T").encode())
    assert rewriter.status == ord("T")


def test_a_position_is_told_in_the_clients_text_and_other_fields_stay() -> None:
    rewriter = Rewriter(OID)
    query = frontend.Query(b"select recall('x'), nothing")
    spliced(rewriter, query).render(["m [1]"])
    position = query.sql.index(b"nothing") + 1 + len(", query_embedding => 'm [1]'")
    fields = ((b"S", b"ERROR"), (b"P", b"%d" % position), (b"p", b"%d" % position), (b"W", b"x"))
    (out,) = rewriter.server_bytes(backend.ErrorResponse(fields).encode())
    told = backend.ErrorResponse.decode(out[5:])
    assert told.get(b"P") == b"%d" % (query.sql.index(b"nothing") + 1)
    assert told.get(b"p") == b"%d" % position


def test_the_session_is_busy_until_everything_is_answered() -> None:
    rewriter = Rewriter(OID)
    ready = backend.ReadyForQuery(b"I").encode()
    rewriter.server_bytes(ready)
    assert rewriter.status == ord("I")
    rewriter.status = BUSY
    rewriter.client_bytes(frontend.Query(b"select 1").encode() * 2)
    rewriter.server_bytes(ready)
    assert rewriter.status == BUSY
    rewriter.server_bytes(ready)
    assert rewriter.status == ord("I")


def test_a_call_inside_anothers_arguments_gets_its_own_embedding() -> None:
    query = frontend.Query(b"select * from recall('outer', k => (select 1 from recall('inner')))")
    piece = spliced(Rewriter(OID), query)
    assert [one.text for one in piece.wanted] == ["inner", "outer"]
    sent = frontend.Query.decode(piece.render(["m inner", "m outer"])[5:])
    assert sent.sql == (
        b"select * from recall('outer', k => (select 1 from recall('inner',"
        b" query_embedding => 'm inner')), query_embedding => 'm outer')"
    )
