"""Random SQL with recall() and its like in odd places, and what the real parser makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import postgast
from google.protobuf.message import Message

from gateway.splice import ARGUMENT, TEXT_ARGUMENTS

Found = tuple[str, str | int]
_TEXT_TYPES = (["text"], ["pg_catalog", "varchar"])
_TEXTS = (
    "how",
    "it's",
    "a ( b",
    "c ) d",
    "-- e",
    "/* f",
    "тест",
    "recall('x')",
    "$1",
    "",
    "a,b",
    "\\",
)
_STRUCTS = ("select_stmt", "insert_stmt", "update_stmt", "delete_stmt", "explain_stmt")


class Grammar:
    """Writes one random script at a time."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def script(self) -> str:
        statements = [self.statement() for _ in range(self._random.choice((1, 1, 1, 2, 3)))]
        return self._gap().join((";" + self._gap()).join(statements).split("\0"))

    def statement(self) -> str:
        query = self.query()
        return self._pick(
            query,
            query,
            query,
            f"explain (costs off) {query}",
            f"declare recall cursor for {query}",
            f"copy ({query}) to stdout",
            f"prepare recall(text) as {query}",
            f"insert into recall(recall) {query}",
            f"create temp table recall as {query}",
            f"create view recall as {query}",
            f"create materialized view recall as {query}",
            f"create function recall(recall text) returns int begin atomic {query}; end",
            f"create function f() returns int language sql as $recall$ {query} $recall$",
            f"do $$ begin perform {self.call()}; end $$",
            f"update recall set recall = ({query})",
            f"delete from recall where recall in ({query}) returning {self.call()}",
            "savepoint recall",
            "listen recall",
            "execute recall('x')",
            "drop function recall(text)",
            "comment on table recall is 'recall(''x'')'",
            "",
        )

    def query(self) -> str:
        expression = self.expression()
        return self._pick(
            f"select * from {self.source()}",
            f"select {expression}",
            f"select {expression}, {self.expression()} as recall from {self.source()}",
            f"select * from t, lateral {self.source()} where {expression} is null",
            f"with recall as (select * from {self.source()}) select * from recall",
            f"with recall(a) as (values ({expression})) select a from recall, {self.source()}",
            f"values ({expression}, {self.expression()})",
            f"select case when {expression} is null then {self.expression()} end",
            f"select array[{expression}, 'b'], (select {self.expression()})",
            f"select 1 union all select * from {self.source()} order by 1 limit 5",
        )

    def source(self) -> str:
        return self._pick(
            self.call(),
            f"{self.call()} as recall",
            f"({self.nested()}) recall",
            "recall",
            '"recall" r',
        )

    def nested(self) -> str:
        return f"select * from {self.call()} where {self.expression()} = 'x'"

    def expression(self) -> str:
        return self._pick(
            self.call(),
            "recall",
            "t.recall",
            "'recall(''x'')'",
            "$q$recall('x')$q$",
            "E'recall(\\'x\\')'",
            "a ->> 'recall('",
            "$1,$2",
            '"recall"',
            "a$1$b",
            "1",
            f"({self.call()})",
            f"coalesce({self.argument()}, {self.call()})",
        )

    def call(self) -> str:
        name = self._pick(
            "recall",
            "recall",
            "RECALL",
            '"recall"',
            "remember",
            "explain_recall",
            "revise",
            "Revise",
            '"Recall"',
            "recall2",
        )
        schema = self._pick("", "", "", f"memory{self._gap()}.", '"memory".', "other.", "Memory.")
        id_first = self._pick(["$3"], ["'9f0a'"], []) if name.lower() == "revise" else []
        arguments = [*id_first, self._first(name), *self._more()]
        separator = f"{self._gap()},{self._gap()}"
        return f"{schema}{name}{self._gap()}({self._gap()}{separator.join(arguments)}{self._gap()})"

    def _first(self, name: str) -> str:
        parameter = "content" if name.lower() in ("remember", "revise") else "query"
        return self._pick(
            self.argument(),
            self.argument(),
            f"{parameter} => {self.argument()}",
            f"{parameter}{self._gap()}:={self._gap()}{self.argument()}",
        )

    def _more(self) -> list[str]:
        return self._pick(
            [],
            [],
            ["k => 5"],
            ["k => (select 1)", "tags => array['a', 'b']"],
            ["space => $2"],
            [f"{ARGUMENT} => 'm [1]'"],
        )

    def argument(self) -> str:
        text = self._pick(*_TEXTS)
        quoted = text.replace("'", "''")
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        literal = self._pick(
            f"'{quoted}'",
            f"'{quoted}'",
            f"E'{escaped}\\n'",
            f"$q${text}$q$",
            f"$${text}$$" if "$" not in text else "'x'",
            f"'{quoted}'\n'b'",
            f"U&'{text.replace(chr(92), chr(92) * 2).replace(chr(39), chr(39) * 2)}\\0061'",
            "$1",
            f"${self._random.randint(1, 12)}",
        )
        gap = self._gap()
        return self._pick(
            literal,
            literal,
            literal,
            f"({gap}{literal}{gap})",
            f"(({literal})::text)",
            f"{literal}{gap}::{gap}text",
            f"{literal}::varchar",
            f"{literal}::character varying",
            f"cast{gap}({literal} as text)",
            f"cast({literal} as character varying)",
            f"{literal}::varchar(3)",
            f"{literal} || 'b'",
            f"lower({literal})",
            f"(select {literal})",
            "t.recall",
            "null",
            "5",
        )

    def _gap(self) -> str:
        return self._random.choice(
            (
                "",
                "",
                "",
                " ",
                "\n",
                "\t",
                " /* recall('x') */ ",
                " -- recall('y')\n",
                " /* /* */ ' */ ",
            )
        )

    def _pick(self, *choices: Any) -> Any:
        return self._random.choice(choices)


def parsed(sql: str) -> Message | None:
    """The real parser's tree; None where it refuses the text."""
    try:
        return postgast.parse(sql)
    except postgast.PgQueryError:
        return None


def calls_in(tree: Any) -> list[Found]:
    """What the real parser says of every call that can be spliced, by position."""
    found: list[tuple[int, Found]] = []
    for raw in tree.stmts:
        kind = raw.stmt.WhichOneof("node")
        if not _runs_a_query(kind, raw.stmt):
            continue
        takes_parameters = kind not in ("prepare_stmt", "copy_stmt")
        for call in _function_calls(raw.stmt):
            argument = _argument(call)
            if argument is not None and (takes_parameters or isinstance(argument, str)):
                name = call.funcname[-1].string.sval
                found.append((call.location, (TEXT_ARGUMENTS[name].function, argument)))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _runs_a_query(kind: str | None, statement: Any) -> bool:
    if kind == "create_table_as_stmt":
        return bool(statement.create_table_as_stmt.objtype == postgast.pg_query_pb2.OBJECT_TABLE)
    return kind in (*_STRUCTS, "declare_cursor_stmt", "copy_stmt", "prepare_stmt")


def _function_calls(node: Any) -> Iterator[Any]:
    if node.DESCRIPTOR.name == "FuncCall":
        name = [part.string.sval for part in node.funcname]
        if name[-1] in TEXT_ARGUMENTS and name[:-1] in ([], ["memory"]):
            yield node
    for field, value in node.ListFields():
        if field.message_type is None:
            continue
        for child in value if field.is_repeated else (value,):
            yield from _function_calls(child)


def _argument(call: Any) -> str | int | None:
    _, text_name, position = TEXT_ARGUMENTS[call.funcname[-1].string.sval]
    found = None
    for index, node in enumerate(call.args):
        if node.WhichOneof("node") == "named_arg_expr":
            named = node.named_arg_expr
            if named.name == ARGUMENT:
                return None
            if named.name == text_name:
                found = named.arg
        elif index + 1 == position:
            found = node
    return None if found is None else _constant(found)


def _constant(node: Any) -> str | int | None:
    kind = node.WhichOneof("node")
    if kind == "param_ref":
        return int(node.param_ref.number)
    if kind == "a_const" and node.a_const.WhichOneof("val") == "sval":
        return str(node.a_const.sval.sval)
    if kind == "type_cast":
        type_name = node.type_cast.type_name
        names = [part.string.sval for part in type_name.names]
        if names in _TEXT_TYPES and not type_name.typmods and not type_name.array_bounds:
            return _constant(node.type_cast.arg)
    return None


def without_locations(node: Any) -> Any:
    """The tree as nested tuples, without positions, and without embedding arguments."""
    parts = []
    for field, value in node.ListFields():
        if field.name in ("location", "stmt_location", "stmt_len", "rexpr_list_start"):
            continue
        if field.name.startswith(("list_start", "list_end", "rexpr_list")):
            continue
        if field.message_type is None:
            parts.append((field.name, list(value) if field.is_repeated else value))
        else:
            children = value if field.is_repeated else (value,)
            kept = [without_locations(one) for one in children if not _is_embedding(one)]
            parts.append((field.name, kept))
    return node.DESCRIPTOR.name, parts


def _is_embedding(node: Any) -> bool:
    return (
        node.DESCRIPTOR.name == "Node"
        and node.WhichOneof("node") == "named_arg_expr"
        and node.named_arg_expr.name == ARGUMENT
        and node.named_arg_expr.arg.a_const.sval.sval == SPLICED
    )


SPLICED = "spliced here"
