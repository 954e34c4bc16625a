"""Limits on connections, in one process and over several that share a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway import Limits, SharedPlaces
from gateway.places import Place, Places, wipe
from gateway.refusals import TooManyClients

LIMITS = Limits(
    max_connections=5,
    max_connections_per_address=3,
    max_connections_per_role=2,
    max_logins_at_once=4,
)


def worker(folder: Path, index: int) -> Places:
    return Places(LIMITS, SharedPlaces(folder, index, 2))


def entered(places: Places, address: str = "10.0.0.1") -> Place:
    place = places.enter(address)
    assert place is not None
    return place


def session(places: Places, address: str, role: str) -> Place:
    place = entered(places, address)
    places.seat(place, role)
    places.logged_in(place)
    return place


@pytest.fixture(params=["one process", "two processes"])
def two(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Places, Places]:
    """Where connections go: to one process, or by turns to two."""
    if request.param == "one process":
        alone = Places(LIMITS)
        return alone, alone
    return worker(tmp_path, 0), worker(tmp_path, 1)


def test_a_role_has_no_more_than_its_share(two: tuple[Places, Places]) -> None:
    first, second = two
    kept = session(first, "10.0.0.1", "ada")
    session(second, "10.0.0.2", "ada")
    third = entered(first, "10.0.0.3")
    with pytest.raises(TooManyClients, match='too many connections for role "ada"'):
        first.seat(third, "ada")
    first.seat(third, "bob")
    first.leave(kept)
    session(second, "10.0.0.4", "ada")


def test_an_address_has_no_more_than_its_share_those_that_say_nothing_included(
    two: tuple[Places, Places],
) -> None:
    first, second = two
    silent = [entered(first), entered(second)]
    session(second, "10.0.0.1", "ada")
    late = entered(first)
    with pytest.raises(TooManyClients, match="from this address"):
        first.seat(late, "bob")
    second.leave(silent[1])
    first.seat(late, "bob")


def test_all_together_have_no_more_than_there_are(two: tuple[Places, Places]) -> None:
    for number in range(5):
        session(two[number % 2], f"10.0.0.{number}", f"role {number}")
    sixth = entered(two[0], "10.0.0.9")
    with pytest.raises(TooManyClients, match="sorry, too many clients already"):
        two[0].seat(sixth, "role 9")


def test_only_so_many_log_in_at_once(two: tuple[Places, Places]) -> None:
    waiting = [entered(two[number % 2], f"10.0.0.{number}") for number in range(4)]
    assert two[0].enter("10.0.0.9") is None
    assert two[1].enter("10.0.0.9") is None
    two[0].seat(waiting[0], "ada")
    two[0].logged_in(waiting[0])
    assert two[1].enter("10.0.0.9") is not None


def test_a_dead_workers_places_are_given_back(tmp_path: Path) -> None:
    first, second = worker(tmp_path, 0), worker(tmp_path, 1)
    entered(second)
    session(second, "10.0.0.1", "ada")
    session(second, "10.0.0.1", "ada")
    refused = entered(first)
    with pytest.raises(TooManyClients):
        first.seat(refused, "ada")
    wipe(SharedPlaces(tmp_path, 0, 2), 1)
    first.seat(refused, "ada")
    session(worker(tmp_path, 1), "10.0.0.1", "ada")


@pytest.mark.parametrize("role", ["", "\udcff", "x" * 100_000, "a\x00b"])
def test_any_name_can_be_counted(role: str) -> None:
    places = Places(LIMITS)
    held = [session(places, role, role) for _ in range(2)]
    third = entered(places, role)
    with pytest.raises(TooManyClients):
        places.seat(third, role)
    for place in (*held, third):
        places.leave(place)
    session(places, role, role)
