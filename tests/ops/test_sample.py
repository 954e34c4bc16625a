"""The bundled sample is whole, varied, and such as the store takes."""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from pgrecall.demo.sample import SPACES, SampleMemory, load_sample

NOW = datetime(2026, 11, 30, 15, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def sample() -> list[SampleMemory]:
    return load_sample(NOW)


def test_the_sample_is_214_memories_in_four_spaces(sample: list[SampleMemory]) -> None:
    keys = [record.memory.key for record in sample if record.memory.key]
    corrections = len(keys) - len(set(keys))
    assert len(sample) - corrections == 214
    assert {record.memory.space for record in sample} == set(SPACES)


def test_each_space_is_written_by_more_than_one_agent(sample: list[SampleMemory]) -> None:
    for space in SPACES:
        assert len({record.agent for record in sample if record.memory.space == space}) > 1


def test_a_corrected_fact_follows_the_one_it_corrects(sample: list[SampleMemory]) -> None:
    for key, old, new in (
        ("bastion.port", "port 22.", "port 49222"),
        ("prod.postgres-version", "PostgreSQL 16", "PostgreSQL 18"),
    ):
        versions = [record.memory for record in sample if record.memory.key == key]
        assert [old in versions[0].content, new in versions[1].content] == [True, True]
        assert versions[0].valid_from is not None
        assert versions[1].valid_from is not None
        assert versions[0].valid_from < versions[1].valid_from


def test_nothing_is_said_twice(sample: list[SampleMemory]) -> None:
    contents = Counter(record.memory.content for record in sample)
    assert contents.most_common(1)[0][1] == 1
    corrected = {"Bastion port", "PostgreSQL version in production"}
    titles = Counter(record.memory.title for record in sample)
    assert {title for title, count in titles.items() if count > 1} == corrected


def test_every_kind_and_two_languages_occur(sample: list[SampleMemory]) -> None:
    kinds = {record.memory.kind for record in sample}
    assert kinds == {"episodic", "semantic", "procedural", "resource", "strategic", "identity"}
    russian = [r for r in sample if len(re.findall("[а-яё]", r.memory.content)) > 40]
    assert 25 <= len(russian) <= 35


def test_nothing_lies_in_the_future_and_last_week_stays_last_week(
    sample: list[SampleMemory],
) -> None:
    events = [record.memory.event_at for record in sample]
    assert all(event is not None and event <= NOW for event in events)
    assert any(event is not None and event > NOW - timedelta(days=7) for event in events)


def test_the_turns_of_a_thread_come_in_order(sample: list[SampleMemory]) -> None:
    turns = [r.memory.content for r in sample if r.memory.thread == "bastion-move"]
    assert turns[0].startswith("ssh bastion hangs")
    assert turns[-1].startswith("Good catch")


@pytest.mark.parametrize("day", ["2026-05-02", "2026-05-03", "2028-02-29", "2027-01-01"])
def test_the_sample_loads_on_any_day(day: str) -> None:
    now = datetime.fromisoformat(day).replace(hour=9, tzinfo=UTC)
    events = [record.memory.event_at for record in load_sample(now)]
    assert all(event is not None and event <= now for event in events)


def test_addresses_are_of_reserved_domains_only(sample: list[SampleMemory]) -> None:
    addresses = [a for r in sample for a in re.findall(r"[\w.]+@[\w.]+\w", r.memory.content)]
    assert addresses
    assert all(address.endswith(".example") for address in addresses)
