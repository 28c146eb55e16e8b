"""All metrics of table B.1 at once."""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from ziggurat.errors import ParameterError
from ziggurat.sequences.text import prepare_headlines
from ziggurat.utility.text import CHECKERS, HeadlineJudge, TopicJudge, count_repetitions, judge_headlines

TITLES = Path(os.environ.get("ZIGGURAT_DATA") or "none") / "uci_news_titles.parquet"
WORDS = {"money": ["bank", "stocks", "fed", "euro", "rates"], "stars": ["film", "tour", "song", "kim", "wedding"]}


def invent(count, seed):
    draw = np.random.default_rng(seed)
    topics = draw.choice(list(WORDS), count).tolist()
    return [" ".join(draw.choice([*WORDS[each], "the", "in", "says", "to"], 8)) for each in topics], topics


@pytest.fixture
def one_checker(monkeypatch):
    """A quick checker instead of those that may not be installed."""
    for name in list(CHECKERS):
        monkeypatch.delitem(CHECKERS, name)
    monkeypatch.setitem(CHECKERS, "invented", lambda texts: [not each.startswith("the") for each in texts])


def test_one_model_is_judged_by_every_row_of_the_table(one_checker):
    dataset, topics = invent(400, 1)
    held_out, _ = invent(100, 2)
    generated, about = invent(40, 3)
    before = sum(sum(count_repetitions(each).values()) for each in generated[1:])
    generated[0] = "kim says to kim says to the film tour kim says to"
    found = judge_headlines(
        generated, about, dataset, topics, model="a model", perplexity=99.5, held_out=held_out, random_state=4
    )
    rows = dict(zip(found.table["metric"].to_pylist(), found.table["value"].to_pylist(), strict=True))
    assert list(rows) == [
        "perplexity",
        "topical coherence, %",
        "BLEU",
        "novelty",
        "no fault by invented, %",
        "n-gram repetitions",
        "longest copied run, words",
    ]
    assert rows["perplexity"] == 99.5
    assert rows["topical coherence, %"] > 90
    assert found.repetitions == {3: 2 + before}
    assert 0.8 < found.relative_novelty < 1.2
    assert found.bleu.references == min(topics.count("money"), topics.count("stars"))
    assert "a model" in found.sentence
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_model_without_topics_is_not_judged_by_them(one_checker):
    dataset, topics = invent(100, 1)
    found = HeadlineJudge(dataset, topics, random_state=2).judge(dataset[:10])
    assert found.coherence is None
    assert found.copied is None
    assert found.bleu.references == 100
    assert found.bleu.mean == pytest.approx(1)
    assert np.isnan(found.relative_novelty)


def test_grammar_is_compared_with_real_headlines_of_about_as_many_words(one_checker, monkeypatch):
    lengths = []

    def check(texts):
        lengths.append({len(each.split()) for each in texts})
        return [True] * len(texts)

    monkeypatch.setitem(CHECKERS, "invented", check)
    dataset, topics = invent(250, 1)
    longer = [f"{each} and more words" for each in dataset]
    judge = HeadlineJudge([*dataset, *longer], [*topics, *topics], random_state=2)
    judge.judge(longer[:5])
    judge.judge(longer[5:10])
    assert lengths == [{11}, {11}, {11}, {11}]  # real and shuffled once, generated twice
    judge.judge(["one two"])
    assert lengths[4] == {8, 11}


def test_what_cannot_be_judged_is_refused(one_checker):
    dataset, topics = invent(100, 1)
    with pytest.raises(ParameterError, match="one topic for each"):
        HeadlineJudge(dataset, topics[:-1])
    judge = HeadlineJudge(dataset, topics, random_state=2)
    with pytest.raises(ParameterError, match="at least one"):
        judge.judge([])
    with pytest.raises(ParameterError, match="dataset has none"):
        judge.judge(["a b"], ["sports"])


@pytest.mark.data
@pytest.mark.skipif(not TITLES.exists(), reason="ZIGGURAT_DATA names no folder with uci_news_titles.parquet")
def test_topics_of_real_headlines_are_told_as_well_as_in_the_thesis():
    table = pq.read_table(TITLES)
    headlines, places = prepare_headlines(table["title"].to_pylist())
    topics = [table["category"][place].as_py() for place in places]
    assert TopicJudge(random_state=1).fit(headlines, topics).accuracy_.rate > 0.92
