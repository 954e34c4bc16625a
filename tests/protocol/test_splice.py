"""Where calls are found, what they say, and how an embedding is put in."""

from __future__ import annotations

import pytest

from gateway.splice import (
    Insertion,
    embedding_argument,
    find_calls,
    mentions_memory,
    original_position,
    splice,
)

# sql with ¦ in front of the parenthesis that a call closes with, and the arguments found
FOUND: list[tuple[str, list[str | int]]] = [
    ("select * from recall('how'¦)", ["how"]),
    ("select * from RECALL ( 'how' ¦)", ["how"]),
    ("select * from recall\n(\n'how'\n¦)", ["how"]),
    ("select * from \"recall\"('how'¦)", ["how"]),
    ("select * from memory.recall('how'¦)", ["how"]),
    ('select * from "memory" . "recall"(\'how\'¦)', ["how"]),
    ("select * from recall('it''s'¦)", ["it's"]),
    (r"select * from recall(E'it\'s\n\x41\u0042\U00000043'¦)", ["it's\nABC"]),
    (r"select * from recall(U&'d\0061t\+000061'¦)", ["data"]),
    ("select * from recall(U&'d!0061ta' uescape '!'¦)", ["data"]),
    ("select * from recall($$it's$$¦)", ["it's"]),
    ("select * from recall($q$ $$ $q$¦)", [" $$ "]),
    ("select * from recall(N'how'¦)", ["how"]),
    ("select * from recall('a'\n  'b'¦)", ["ab"]),
    ("select * from recall(''¦)", [""]),
    ("select * from recall('(,)'¦)", ["(,)"]),
    ("select * from recall(('how')¦)", ["how"]),
    ("select * from recall((('how')::text)¦)", ["how"]),
    ("select * from recall('how'::text¦)", ["how"]),
    ("select * from recall('how'::character varying::text¦)", ["how"]),
    ("select * from recall(cast('how' as text)¦)", ["how"]),
    ("select * from recall(CAST ( $1 AS character varying )¦)", [1]),
    ("select * from recall(text 'how'¦)", ["how"]),
    ("select * from recall($1¦)", [1]),
    ("select * from recall($1::text,$2¦)", [1]),
    ("select $1,$2,recall($10¦)", [10]),
    ("select * from recall('how', 5, space => 'billing'¦)", ["how"]),
    ("select * from recall(k => 5, query => 'how'¦)", ["how"]),
    ("select * from recall(k := 5, query := $2¦)", [2]),
    ("select * from recall('how', kinds => array['a', 'b']¦)", ["how"]),
    ("select * from recall('how', k => (select max(x) from (values (1), (2)) v(x))¦)", ["how"]),
    ("select remember('what'¦), remember(content => $1¦), recall('how'¦)", ["what", 1, "how"]),
    ("select * from recall('a'¦) a, lateral recall('b'¦) b", ["a", "b"]),
    ("select * from recall('how' /* recall('no') */¦)", ["how"]),
    ("select * from recall('how' -- no\n¦)", ["how"]),
    ("explain analyze select * from recall('how'¦)", ["how"]),
    ("select * from memory.explain_recall('how', k => 3¦)", ["how"]),
    ("select revise($1, 'what'¦)", ["what"]),
    ("select memory.revise('9f0a', $2, kind => 'semantic'¦)", [2]),
    ("select revise(content => 'what', id => $1¦)", ["what"]),
    ("select revise(id, content := $1¦) from memories", [1]),
    ("declare c cursor for select * from recall($1¦)", [1]),
    ("copy (select * from recall('how'¦)) to stdout", ["how"]),
    ("prepare p(text) as select * from recall('how'¦)", ["how"]),
    ("insert into t select * from recall('how'¦)", ["how"]),
    ("with r as (select * from recall('how'¦)) select * from r", ["how"]),
    ("create temp table t as select * from recall('how'¦)", ["how"]),
    ("savepoint recall; select * from recall('how'¦)", ["how"]),
    ("create view v as select 1; select * from recall('how'¦)", ["how"]),
    ("select a$b$c, recall('how'¦)", ["how"]),
    ("select '{#', x #> '{a}', recall('how'¦) -- '#}", ["how"]),
    ("select * from recall('how'¦) where a ->> 'b' @> '{}' and c <@ d", ["how"]),
    ("select 'тест', recall('как откатить'¦)", ["как откатить"]),
]
NOT_FOUND = [
    "select 'recall(''x'')'",
    "select $$ recall('x') $$",
    "select $q$ recall('x') $q$",
    "select 1 -- recall('x')",
    "select /* recall('x') /* nested */ recall('y') */ 1",
    "select E'\\' recall(''x'')'",
    "do $$ begin perform recall('x'); end $$",
    "create view v as select * from recall('x')",
    "create materialized view v as select * from recall('x')",
    "create or replace view recall as select * from recall('x')",
    "create function f() returns text language sql as $$ select recall('x') $$",
    "create function f() returns text begin atomic select recall('x'); select recall('y'); end",
    "create function recall(query text default 'x') returns text language sql as 'select 1'",
    "create procedure p() begin atomic select case when true then recall('x') end; end",
    "create rule r as on insert to t do also select recall('x')",
    "alter table t alter c set default recall('x')",
    "drop function recall(text)",
    "comment on function recall(text) is 'recall(''x'')'",
    "grant execute on function recall(text) to x",
    "execute recall('x')",
    "prepare recall(text) as select 1",
    "insert into recall('x') values (1)",
    "prepare p(text) as select * from recall($1)",
    "copy (select recall($1)) to stdout",
    "select recall",
    "select * from recall",
    "select * from recall()",
    "select * from recall(t.text)",
    "select * from recall('a' || 'b')",
    "select * from recall(lower('A'))",
    "select * from recall((select 'x'))",
    "select * from recall('how'::varchar(2))",
    "select * from recall(cast('how' as varchar(2)))",
    "select * from recall($1 || 'x')",
    "select * from recall(5)",
    "select * from recall(null)",
    "select * from recall(b'01')",
    "select * from recall('how', query_embedding => 'm [1]')",
    "select * from recall('how', \"query_embedding\" := null)",
    "select * from recall(k => 5)",
    "select revise('9f0a')",
    "select revise('9f0a', null)",
    "select revise('9f0a', kind => 'semantic')",
    "select revise($1, content || 'x') from memories",
    "select * from other.recall('x')",
    "select * from \"Memory\".recall('x')",
    "select * from \"Recall\"('x')",
    "select * from recaller('x')",
    'select * from "re""call"(\'x\')',
    "select * from recall('x'",
    "select * from recall('x",
    "select * from recall(E'\\xff')",
    "select * from recall(E'\\u00')",
    "select * from recall(" + ", ".join(["'x'"] * 17) + ")",
    "",
    ";",
]


@pytest.mark.parametrize(("marked", "arguments"), FOUND)
def test_a_call_is_found_with_its_text(marked: str, arguments: list[str | int]) -> None:
    sql = marked.replace("¦", "")
    calls = find_calls(sql).calls
    assert [call.argument for call in calls] == arguments
    assert splice(sql, [Insertion(call.close, "¦") for call in calls]) == marked


@pytest.mark.parametrize("sql", NOT_FOUND)
def test_what_is_no_call_to_splice_is_left_alone(sql: str) -> None:
    assert find_calls(sql).calls == ()


def test_backslashes_escape_in_plain_strings_where_the_session_says_so() -> None:
    sql = r"select 'it\'s recall(''x'')', recall('a\'b\n')"
    (call,) = find_calls(sql, backslash_escapes=True).calls
    assert call.argument == "a'b\n"
    assert find_calls(r"select '\', recall('a')").calls[0].argument == "a"


@pytest.mark.parametrize(
    ("sql", "highest"),
    [
        ("select 1", 0),
        ("select $1,$2, recall($3)", 3),
        ("select '$9', $$ $8 $$, a$7, \"$6\" -- $5\n, $4", 4),
        ("select $2::int, $1", 2),
    ],
)
def test_the_highest_parameter_is_the_texts_own(sql: str, highest: int) -> None:
    assert find_calls(sql).highest_parameter == highest


@pytest.mark.parametrize(
    "sql", [b"select Recall('x')", b"x REMEMBER y", b"Explain_Recall", b"reVise"]
)
def test_the_words_are_looked_for_in_any_case(sql: bytes) -> None:
    assert mentions_memory(sql)
    assert not mentions_memory(b"select 1")


@pytest.mark.parametrize(
    ("embedding", "argument"),
    [
        ("m [1,2]", ", query_embedding => 'm [1,2]'"),
        ("m ! it's", ", query_embedding => 'm ! it''s'"),
        ("m ! a\\b'", ", query_embedding => E'm ! a\\\\b'''"),
        ("m ! a\x00b", ", query_embedding => 'm ! ab'"),
    ],
)
def test_no_embedding_can_end_its_literal(embedding: str, argument: str) -> None:
    assert embedding_argument(embedding) == argument


def test_every_position_finds_its_way_back() -> None:
    original = "select recall('a'), тест, recall('b'), x"
    insertions = [Insertion(call.close, ", e => 'q'") for call in find_calls(original).calls]
    spliced = splice(original, insertions)
    for position, character in enumerate(spliced, start=1):
        back = original_position(position, insertions)
        inserted = any(
            offset + shift < position <= offset + shift + len(text)
            for shift, (offset, text) in zip((0, 10), insertions, strict=True)
        )
        expected = ")" if inserted else character
        assert original[back - 1] == expected
