"""Perplexity, topics, novelty, repetitions and copied runs."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.errors import ParameterError
from ziggurat.utility.text import (
    HeadlineIndex,
    TopicJudge,
    count_repetitions,
    longest_copied_run,
    novelty,
    perplexity_of,
)

TEXTS = st.lists(st.sampled_from("abcde"), max_size=7).map(" ".join)


def test_the_base_does_not_matter_where_it_is_the_same_on_both_sides():
    chances = np.array([0.1, 0.5, 0.02])
    wanted = 1 / math.prod(chances) ** (1 / 3)
    assert perplexity_of(np.log(chances), math.e) == pytest.approx(wanted)
    assert perplexity_of(np.log2(chances), 2) == pytest.approx(wanted)


def test_the_printed_formula_with_natural_logarithms_is_the_power_of_ln_2():
    logs = np.log([0.1, 0.5, 0.02])
    assert perplexity_of(logs, math.e, printed=True) == pytest.approx(perplexity_of(logs, math.e) ** math.log(2))
    assert perplexity_of(logs, math.e, printed=True) == pytest.approx(2 ** -logs.mean())
    assert perplexity_of(np.log2([0.1]), 2, printed=True) == pytest.approx(2 ** -math.log(0.1))


def test_an_impossible_word_is_infinitely_perplexing_and_nonsense_is_refused():
    assert perplexity_of([-1.0, -math.inf], math.e) == math.inf
    for logs, base in (([], 2), ([0.1], 2), ([math.nan], 2), ([-1], 1), ([-1], 0.5)):
        with pytest.raises(ParameterError):
            perplexity_of(logs, base)


def invent_news(count, seed):
    draw = np.random.default_rng(seed)
    topics = draw.choice(["money", "stars"], count).tolist()
    words = {"money": ["bank", "stocks", "fed", "the", "in"], "stars": ["film", "tour", "song", "the", "in"]}
    return [" ".join(draw.choice(words[topic], 6)) for topic in topics], topics


def test_topics_are_told_by_their_words():
    headlines, topics = invent_news(300, 1)
    judge = TopicJudge(random_state=2).fit(headlines, topics)
    assert judge.accuracy_.trials == 60
    assert judge.accuracy_.rate > 0.95
    assert judge.topics_ == ("money", "stars")
    assert judge.predict(["stocks in the bank", "the film tour"]) == ["money", "stars"]
    assert judge.coherence(["stocks in the bank", "the film tour"], ["money", "money"]).rate == 0.5


def test_topics_that_are_dealt_at_random_are_not_told():
    """A negative control: 5 standard deviations, once in 3 million."""
    headlines, topics = invent_news(2000, 3)
    dealt = np.random.default_rng(4).permutation(topics).tolist()
    accuracy = TopicJudge(random_state=5).fit(headlines, dealt).accuracy_
    assert abs(accuracy.rate - 0.5) < 5 * 0.5 / accuracy.trials**0.5


def test_a_judge_of_topics_needs_topics():
    with pytest.raises(ParameterError, match="two topics"):
        TopicJudge().fit(["a b"] * 20, ["x"] * 20)
    with pytest.raises(ParameterError, match="one topic"):
        TopicJudge(1).fit(*invent_news(50, 1)).coherence(["a"], [])


def runs_of(words):
    return {(start, end): tuple(words[start:end]) for start, end in combinations(range(len(words) + 1), 2)}


def slow_longest(headline, other):
    """The longest run of a headline that another holds; the first of several."""
    held = set(runs_of(other.split()).values())
    common = [(start, end, run) for (start, end), run in runs_of(headline.split()).items() if run in held]
    return max(common, key=lambda each: (each[1] - each[0], -each[0]))[2] if common else ()


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=6))
def test_novelty_counts_the_different_longest_common_runs(headline, dataset):
    wanted = {slow_longest(headline, each) for each in dataset} - {()}
    index = HeadlineIndex(dataset)
    assert novelty(headline, index) == novelty(headline, dataset) == len(wanted)
    assert index.longest_runs([headline]) == [max(map(len, wanted), default=0)]


def test_the_printed_example_is_a_juxtaposition_of_two_patterns():
    generated = "justin bieber apologizes for racist joke in new york city to take on"
    dataset = [
        "justin bieber apologizes for racist joke",
        "uber temporarily cuts fares in new york city to take on city cabs",
    ]
    assert novelty(generated, dataset) == 2
    assert HeadlineIndex(dataset).longest_runs([generated]) == [7]


def salad(count, seed, size=12):
    draw = np.random.default_rng(seed)
    return [" ".join(f"w{each}" for each in draw.zipf(1.5, draw.integers(6, size)) % 400) for _ in range(count)]


def test_novelty_beside_held_out_headlines_does_not_depend_on_the_length():
    index, held, fresh = HeadlineIndex(salad(400, 1)), salad(200, 2), salad(200, 3)
    short = [" ".join(each.split()[:4]) for each in fresh]
    plain = [index.novelties(each).mean() for each in (short, fresh)]
    relative = [index.compare(each, held) for each in (short, fresh)]
    assert plain[1] > 1.4 * plain[0]
    assert [float(np.nanmean(each)) for each in relative] == pytest.approx([1, 1], abs=0.1)
    assert np.isnan(index.compare(["w1 " * 30], held)).all()


@pytest.mark.parametrize(
    ("headline", "wanted"),
    [
        ("beverly hills hotel for the first in the first in the world", {3: 1}),
        ("lorillard inc nyse wmt wal mart stores inc nyse wmt wal mart stores", {6: 1}),
        ("a b c a b c a b c", {3: 2}),
        ("a b c d x a b c d y b c d", {3: 1, 4: 1}),
        ("obama warns google apple to make android support support for mobile for mobile", {}),
        ("a a a a a a", {3: 1}),
        ("", {}),
    ],
)
def test_repetitions_are_the_longest_runs_that_occurred_before(headline, wanted):
    assert count_repetitions(headline) == wanted


def test_a_writer_that_copies_has_longer_runs_from_what_it_learned_than_from_others():
    training, control = salad(300, 4), salad(100, 5)
    found = longest_copied_run(training[:50], training, control, random_state=6)
    assert found.headlines == 100
    assert found.whole.rate == 1
    assert found.longer.rate > found.shorter.rate
    assert found.table.num_rows == max(map(len, map(str.split, training[:50]))) + 1
    assert found.sentence.endswith(".")


def test_a_writer_that_does_not_copy_has_not():
    found = longest_copied_run(salad(200, 7), salad(200, 8), salad(200, 9), random_state=6)
    assert found.longer.low < found.shorter.high
    assert found.shorter.low < found.longer.high
    assert found.whole.rate < 0.05


def test_nothing_to_look_in_is_refused():
    with pytest.raises(ParameterError, match="at least one"):
        HeadlineIndex([])
    with pytest.raises(ParameterError, match="at least one"):
        longest_copied_run(["a"], ["a"], [])
