"""`ziggurat model`: fit under a budget, predict, evaluate."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def granted(command):
    budget = ("--epsilon", "4", "--delta", "1e-5", "--person", "patient_id", "--relation", "replace-one")
    command("ledger", "budget", "clinic", *budget)
    command("ledger", "grant", "clinic", "ada", "--epsilon", "4", "--delta", "1e-5")
    command("data", "invent", "clinic", "--rows", "300", "--seed", "6", "--out", "test.csv")
    return command


FIT = ("model", "fit", "clinic", "--budget", "clinic", "--analyst", "ada", "--rehearse", "1", "--column", "age")


def test_a_number_is_learned_predicted_and_judged(granted):
    given = ("--label", "cost", "--column", "length_of_stay", "--epsilon", "2", "--out", "m", "--option", "alpha=0.5")
    made = granted(*FIT, *given, "--model", "ridge")
    assert made.code == 0, made.err
    assert "one person (column patient_id), replace-one" in made.out
    assert "REHEARSAL" in made.out
    assert "300 predictions" in granted("model", "predict", "m", "test.csv", "--out", "p.csv").out
    assert len(Path("p.csv").read_text().splitlines()) == 301
    judged = json.loads(granted("model", "evaluate", "m", "test.csv", "--json").out)
    assert judged["root mean squared error"] < judged["of always naming the mean"]


def test_a_class_is_named_in_words(granted):
    made = granted(*FIT, "--label", "smoker", "--column", "bmi", "--epsilon", "0.5", "--out", "m")
    assert made.code == 0, made.err
    assert set(granted("model", "predict", "m", "test.csv").out.split()) <= {"false", "true"}
    assert "accuracy" in granted("model", "evaluate", "m", "test.csv").out


@pytest.mark.parametrize("model", ["naive-bayes", "tree", "forest"])
def test_every_classifier_is_fitted_by_its_name(granted, model):
    made = granted(*FIT, "--label", "smoker", "--column", "bmi", "--epsilon", "0.5", "--model", model, "--out", "m")
    assert made.code == 0, made.err
    assert granted("model", "evaluate", "m", "test.csv").code == 0


def test_a_price_is_told_and_what_is_too_dear_is_refused(granted):
    given = ("--label", "cost", "--epsilon", "50", "--out", "m")
    assert granted(*FIT, *given, "--quote").code == 3
    refused = granted(*FIT, *given)
    assert refused.code == 3
    assert "nothing was read or spent" in refused.err
    assert not Path("m").exists()
    assert granted(*FIT, "--label", "cost", "--epsilon", "1", "--out", "m", "--quote").code == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--label", "cost", "--model", "logistic"), "is a number"),
        (("--label", "smoker", "--model", "ridge"), "is a class"),
        (("--label", "cost", "--model", "rigde"), "ridge"),
        (("--label", "cost", "--option", "alhpa=1", "--model", "ridge"), "alpha"),
        (("--label", "nobody"), "no column"),
        (("--label", "cost", "--epsilon", "0"), "psilon"),
    ],
)
def test_bad_input_gets_one_sentence_and_spends_nothing(granted, given, said):
    whole = given if "--epsilon" in given else (*given, "--epsilon", "1")
    refused = granted(*FIT, *whole, "--out", "m")
    assert refused.code not in (0, 70)
    assert said in refused.err
    assert refused.err.count("\n") == 1
    assert "0 questions" in granted("ledger", "show", "clinic").out


def test_a_folder_without_a_model_is_refused(granted):
    assert "no readable task" in granted("model", "predict", "nowhere", "test.csv").err
