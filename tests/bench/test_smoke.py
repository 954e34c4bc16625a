"""The benchmarks run, on sets small enough for a test; their figures are another matter."""

import gzip
import json
from pathlib import Path

import pytest

from bench import datasets, latency, log, retrieval, sharing
from tests.conftest import short_lived_folder

FACTS = {
    "d1": "The billing deploy was rolled back with helm on Friday",
    "d2": "The office plants are watered every second week",
    "d3": "Бастион слушает порт 49222",
    "d4": "Customers in Estonia pay another tax rate",
    "d5": "The bastion host was replaced in spring",
}
QUESTIONS = {"q1": ("how did we roll back billing", "d1"), "q2": ("какой порт у бастиона", "d3")}


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch):
    with short_lived_folder() as folder:
        monkeypatch.setenv("PGRECALL_BENCH_CACHE", str(folder / "cache"))
        _write_set(folder / "data" / "ir" / "tiny")
        _write_scale(folder / "data" / "scale")
        yield folder / "data"


def _write_set(home: Path) -> None:
    home.mkdir(parents=True)
    documents = [{"_id": key, "title": "", "text": text} for key, text in FACTS.items()]
    queries = [{"_id": key, "text": text} for key, (text, _) in QUESTIONS.items()]
    for name, rows in (("corpus", documents), ("queries", queries)):
        with gzip.open(home / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    lines = [f"{query}\t{document}\t1\n" for query, (_, document) in QUESTIONS.items()]
    (home / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))


def _write_scale(home: Path) -> None:
    home.mkdir(parents=True)
    with gzip.open(home / "sgd_utterances.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text}) + "\n" for text in FACTS.values())
    with gzip.open(home / "ru_short_sentences.txt.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"предложение номер {number}\n" for number in range(5))


async def test_retrieval_ranks_each_way_and_finds_a_loaded_set_again(data):
    first = await retrieval.evaluate(data, ["tiny"])
    again = await retrieval.evaluate(data, ["tiny"], limit=1)

    assert [name for _, name, _ in first] == ["bm25", "lexical", "vector", "hybrid"]
    hybrid = first[-1][2]
    assert hybrid["R@5"] == 1
    assert again[-1][2]["R@5"] == 1


async def test_latency_is_measured_at_every_share(data):
    results = await latency.run(data, [600], rounds=2)

    assert [way for _, way, *_ in results] == [
        "bare pgvector",
        "unfiltered",
        "visible 0.05%",
        "visible 1.00%",
        "visible 50.00%",
    ]
    assert all(agreement == 1 for *_, agreement in results if agreement is not None)


async def test_verifying_and_the_cost_of_the_log_are_measured(data):
    events_a_second, share_kept = await log.run(events=80, rounds=1, seconds=0.2)

    assert events_a_second > 0
    assert share_kept > 0


def test_without_data_a_measurement_says_so_and_ends(monkeypatch, capsys):
    monkeypatch.delenv(datasets.FOLDER_VARIABLE, raising=False)

    retrieval.main([])
    latency.main([])
    sharing.main([])

    assert capsys.readouterr().out.count("skipped: no data") == 3


async def test_sharing_is_measured_beside_the_same_store_without(data):
    size = sharing.Size(memories=600, agents=20, spaces=12, shares=200, delegations=30)
    crowd = sharing.Crowd(size, sharing=True)

    results = await sharing.measure(data, size, rounds=2)

    assert len(crowd.shares) > 150
    assert [(asker, len(without), len(having)) for asker, without, having in results] == [
        ("usual", 2, 2),
        ("busy", 2, 2),
    ]
