"""Hidden parameters follow what the server answered, not what the client asked."""

from __future__ import annotations

from gateway.splice import Insertion
from gateway.statements import Hidden, Source, Statements, Undecided

HIDDEN = Hidden(1, (Source("recall", 1),))
OTHER = Hidden(2, (Source("recall", 2),))


def prepared(name: bytes = b"a", hidden: Hidden | None = HIDDEN) -> Statements:
    statements = Statements()
    statements.parse(name, hidden)
    statements.sync()
    statements.parse_complete()
    statements.ready()
    return statements


def test_a_statement_is_known_from_its_parse_on() -> None:
    statements = Statements()
    statements.parse(b"a", HIDDEN)
    assert statements.hidden_of(b"a") == HIDDEN
    assert statements.hidden_of(b"b") is None
    statements.parse_complete()
    assert statements.hidden_of(b"a") == HIDDEN


def test_a_failed_parse_leaves_the_old_statement() -> None:
    statements = prepared()
    statements.parse(b"a", None)
    statements.sync()
    statements.error()
    statements.ready()
    assert statements.hidden_of(b"a") == HIDDEN


def test_a_parse_anew_takes_the_hidden_parameters_away() -> None:
    statements = prepared(b"")
    statements.parse(b"", None)
    assert statements.hidden_of(b"") is None
    statements.parse_complete()
    assert statements.hidden_of(b"") is None


def test_what_is_asked_behind_an_error_is_skipped_up_to_the_sync() -> None:
    statements = prepared()
    statements.parse(b"bad", None)
    statements.close(b"a")
    statements.error()
    statements.close(b"a")
    statements.sync()
    statements.parse(b"b", OTHER)
    statements.sync()
    statements.ready()
    statements.parse_complete()
    statements.ready()
    assert statements.hidden_of(b"a") == HIDDEN
    assert statements.hidden_of(b"b") == OTHER
    assert not statements.unanswered


def test_behind_a_sync_an_unanswered_parse_of_a_known_name_is_undecided() -> None:
    statements = prepared()
    statements.parse(b"a", None)
    assert statements.hidden_of(b"a") is None
    statements.sync()
    assert statements.hidden_of(b"a") is Undecided.UNDECIDED
    statements.error()
    statements.ready()
    assert statements.hidden_of(b"a") == HIDDEN


def test_a_closed_statement_is_gone_once_the_server_says_so() -> None:
    statements = prepared()
    statements.close(None)
    statements.close(b"a")
    assert statements.hidden_of(b"a") is None
    statements.close_complete()
    statements.close_complete()
    assert statements.hidden_of(b"a") is None


def test_deallocate_and_discard_drop_statements() -> None:
    statements = prepared(b'A "b"')
    statements.deallocate(b'DEALLOCATE PREPARE "A ""b"""; deallocate other')
    assert statements.hidden_of(b'A "b"') == HIDDEN
    statements.command_complete(b"DEALLOCATE")
    assert statements.hidden_of(b'A "b"') is None
    statements = prepared()
    statements.command_complete(b"DISCARD ALL")
    assert statements.hidden_of(b"a") is None


def test_syncs_inside_a_copy_ask_for_nothing() -> None:
    statements = Statements()
    statements.sync()  # sent before the client knew of the copy, and ignored
    statements.copy_in()
    statements.sync()
    statements.copy_end()
    statements.sync()
    statements.parse(b"a", HIDDEN)
    statements.sync()
    statements.ready()
    statements.error()
    statements.ready()
    assert not statements.unanswered
    assert statements.hidden_of(b"a") is None


def test_a_copy_by_a_simple_query_ends_with_that_query() -> None:
    statements = Statements()
    statements.query()
    statements.copy_end()
    statements.copy_in()
    statements.ready()
    assert not statements.unanswered


def test_a_copy_that_fails_half_way_skips_to_the_next_sync() -> None:
    statements = Statements()
    statements.sync()
    statements.copy_in()
    statements.error()
    statements.copy_end()
    statements.sync()
    statements.ready()
    assert not statements.unanswered


def test_a_failed_simple_query_skips_nothing_behind_it() -> None:
    statements = Statements()
    statements.query()
    statements.parse(b"a", HIDDEN)
    statements.sync()
    statements.error()
    statements.ready()
    statements.parse_complete()
    statements.ready()
    assert statements.hidden_of(b"a") == HIDDEN


def test_a_description_is_cut_only_for_the_statement_that_was_asked_for() -> None:
    statements = prepared()
    statements.describe(1)
    statements.describe(0)
    assert [statements.parameter_description() for _ in range(3)] == [1, 0, 0]


def test_the_end_of_no_copy_hides_no_description() -> None:
    statements = prepared()
    statements.copy_end()
    statements.describe(1)
    statements.copy_end()
    statements.copy_end()
    statements.describe(2)
    statements.sync()
    assert [statements.parameter_description() for _ in range(3)] == [1, 2, 0]
    statements.ready()
    assert not statements.unanswered


def test_an_errors_position_refers_to_the_text_that_is_being_answered() -> None:
    statements = Statements()
    first, second = statements.spliced_query(), statements.spliced_query()
    first.insertions, second.insertions = (), [Insertion(3, "x")]
    assert statements.text_in_error() == ()
    statements.ready()
    assert statements.text_in_error() == [Insertion(3, "x")]
