"""Train on synthetic rows, test on real ones."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.tree import DecisionTreeClassifier

from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import seeded
from ziggurat.utility import transfer


@pytest.fixture(scope="module")
def holdout(original):
    return original.slice(0, 800)


@pytest.mark.parametrize("model", ["boosting", "forest", "linear"])
def test_good_copies_teach_nearly_as_much_as_real_rows(original, copies, holdout, model):
    found = transfer(original.slice(800), copies[:1], "owner", holdout=holdout, model=model, source=seeded(1))
    assert found.score == "AUC"
    assert found.unseen
    assert found.baseline == 0.5
    assert found.synthetic.mean > 0.6
    assert abs(found.real - found.synthetic.mean) < 0.1


def test_copies_without_a_relation_teach_nothing(original, copies):
    draw = np.random.default_rng(1)
    noise = copies[0].set_column(4, "owner", pa.array(draw.permutation(np.asarray(copies[0].column("owner")))))
    found = transfer(original, noise, "owner", model="linear", source=seeded(1))
    assert abs(found.synthetic.mean - 0.5) < 0.1
    assert found.real > 0.6


def test_without_a_hold_out_it_says_that_the_synthesiser_may_have_seen_the_rows(original, copies):
    found = transfer(original, copies, "income", model="linear", source=seeded(1))
    assert found.score == "R2"
    assert not found.unseen
    assert "may have seen" in found.sentence
    assert found.baseline <= 0
    assert found.synthetic.mean == pytest.approx(found.real, abs=0.05)
    assert found.dropped == original.column("income").null_count


def test_more_than_two_classes_are_judged_by_balanced_accuracy(original, copies):
    found = transfer(original, copies[0], "region", model=DecisionTreeClassifier(max_depth=2), source=seeded(1))
    assert (found.score, found.model) == ("balanced accuracy", "DecisionTreeClassifier")
    assert found.baseline == 0.25


def test_a_copy_with_one_class_teaches_nothing(original, copies):
    same = copies[0].set_column(4, "owner", pa.array(["yes"] * 2000))
    assert transfer(original, same, "owner", model="linear", source=seeded(1)).synthetic.mean == 0.5


def test_what_cannot_be_predicted_is_refused(original):
    for target, columns, model in (("height", None, "linear"), ("sex", ["sex"], "linear"), ("sex", None, "magic")):
        with pytest.raises(Exception, match=r"height|no column to predict|The model is"):
            transfer(original, original, target, columns=columns, model=model)
    same = original.set_column(1, "sex", pa.array(["f"] * 2000))
    with pytest.raises(DataError, match="only one value"):
        transfer(same, same, "sex")
    many = pa.table({"id": [str(place) for place in range(500)] * 2, "n": np.arange(1000.0)})
    with pytest.raises(ParameterError, match="at most 100"):
        transfer(many, many, "id", columns=["n"])
