"""The steps behind table B.1, and the experiment in small."""

import pytest

from ziggurat.experiments import Cache, Results, catalogue, expand, load, run_plan
from ziggurat.experiments.steps.headlines import headline_data, novelty_quantile, repetitions_of, write_headlines

pytest.importorskip("torch")
pytest.importorskip("HanTa")


@pytest.fixture(scope="module")
def data():
    return headline_data("invented", titles=120, seed=2)


def test_headlines_are_dealt_out_once_with_topics_and_tags(data):
    parts = [data[name] for name in ("train", "seeds", "test")]
    texts = [text for part in parts for text in part["headlines"]]
    assert len(texts) == len(set(texts)) == data["headlines"] <= data["titles"] == 120
    assert all(len(part["headlines"]) == len(part["topics"]) == len(part["tags"]) for part in parts)
    assert len(data["train"]["headlines"]) > 4 * len(data["test"]["headlines"])
    assert data == headline_data("invented", titles=120, seed=2)


def test_every_headline_goes_on_from_one_of_its_topic_that_was_not_learned_from(data):
    parts = {name: data[name] for name in ("train", "seeds", "test")}
    made = write_headlines(**parts, architecture="cgru", each=3, words=4, embedding=4, hidden=4, epochs=1, seed=1)
    written = made["written"]
    pairs = zip(data["seeds"]["headlines"], data["seeds"]["topics"], strict=True)
    begun = {(" ".join(text.split()[:3]), topic) for text, topic in pairs}
    assert len(written["headlines"]) == 3 * len(set(written["topics"]))
    for text, topic in zip(written["headlines"], written["topics"], strict=True):
        assert (" ".join(text.split()[:3]), topic) in begun
        assert len(text.split()) == 7
    assert 1 < made["perplexity_printed"] < made["perplexity"]


def test_the_parts_of_figures():
    assert novelty_quantile([3, 1, 2], quantile=0.5) == {"novelty": 2.0}
    assert repetitions_of({"3": 4}, words=3) == {"count": 4}
    assert repetitions_of({"3": 4}, words=5) == {"count": 0}


@pytest.mark.slow
def test_table_b_1_runs_in_small(tmp_path):
    pytest.importorskip("sacrebleu")
    plan = expand(load(catalogue.path("002-table-b-1"), quick=True))
    rows = Results(plan.experiment, run_plan(plan, Cache(tmp_path), progress=False)).table().to_pylist()
    found = {(row["writer.architecture"], row["metric"]): row["value"] for row in rows}
    assert found["baseline", "coherence"] == -1
    assert 0 <= found["sclstm", "coherence"] <= 100
    assert 0 < found["sclstm", "bleu"] <= 1
    assert found["sclstm", "perplexity"] > 1
