"""BLEU against merged references is sacrebleu's."""

import json

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.errors import ParameterError
from ziggurat.utility.text import ReferenceBleu

WORDS = st.lists(st.sampled_from("abcdef"), max_size=12).map(" ".join)


def theirs(headline, references):
    return sacrebleu.sentence_bleu(headline, references, smooth_method="exp", tokenize="none").score / 100


@given(WORDS, st.lists(WORDS, min_size=1, max_size=6))
@settings(max_examples=300)
def test_the_score_is_sacrebleus_on_word_salads_with_few_references(headline, references):
    assert ReferenceBleu(references).score(headline) == pytest.approx(theirs(headline, references), abs=1e-9)


def test_the_score_is_sacrebleus_with_many_references():
    draw = np.random.default_rng(1)
    salad = [" ".join(f"w{each}" for each in draw.zipf(1.4, draw.integers(1, 20)) % 300) for _ in range(700)]
    bleu = ReferenceBleu(salad[60:])
    assert bleu.count == 640
    found = bleu.scores(salad[:60])
    wanted = [theirs(each, salad[60:]) for each in salad[:60]]
    assert found.scores == pytest.approx(wanted, abs=1e-9)
    assert 0 < min(wanted) < 0.5 < max(wanted)


def test_the_shorter_of_two_lengths_that_are_equally_close_counts():
    references = ["a b", "a b c d e f"]
    assert ReferenceBleu(references).score("a b c d") == pytest.approx(theirs("a b c d", references), abs=1e-12)
    assert ReferenceBleu(references).score("a b c d") == pytest.approx(1)


def test_the_number_of_references_is_told_and_can_be_fixed_and_the_score_rises_with_it():
    draw = np.random.default_rng(2)
    salad = [" ".join(f"w{each}" for each in draw.zipf(1.4, 10) % 300) for _ in range(600)]
    few, many = (ReferenceBleu(salad[50:], most=most, random_state=3).scores(salad[:50]) for most in (20, 500))
    assert (few.references, many.references) == (20, 500)
    assert few.mean < many.mean
    assert "500 references" in many.sentence
    assert ReferenceBleu(salad[50:], most=20, random_state=3).scores(salad[:50]) == few
    assert ReferenceBleu(salad, most=10_000).count == 600
    json.dumps(many.to_dict(), allow_nan=False)
    assert many.table.num_rows == 50


def test_a_copy_has_1_and_what_shares_no_word_has_0():
    bleu = ReferenceBleu(["one two three four five", "other words"])
    assert bleu.score("one two three four five") == pytest.approx(1)
    assert bleu.score("nothing in common") == 0
    assert bleu.score("") == 0


def test_no_reference_is_refused():
    with pytest.raises(ParameterError, match="at least one"):
        ReferenceBleu([])
