"""`ziggurat model fit --option alpha=private`: a weight that is chosen and paid for on the command line."""

import json
from pathlib import Path

import pytest

from ziggurat.learn import LogisticRegression, Ridge

FIT = ("model", "fit", "clinic", "--budget", "clinic", "--analyst", "ada", "--rehearse", "1", "--column", "age")


@pytest.fixture
def granted(command):
    budget = ("--epsilon", "4", "--delta", "1e-5", "--person", "patient_id")
    command("ledger", "budget", "clinic", *budget)
    command("ledger", "grant", "clinic", "ada", "--epsilon", "4", "--delta", "1e-5")
    return command


@pytest.mark.parametrize("method", ["adassp", "objective", "output"])
def test_a_ridge_is_chosen_out_of_a_public_list(granted, method):
    given = ("--label", "cost", "--model", "ridge", "--epsilon", "2", "--out", "m", "--option", f"method={method}")
    sized = ("--option", "expected_rows=10000") if method == "output" else ()
    made = granted(*FIT, *given, *sized, "--option", "alpha=private", "--option", "alphas=[10,1000]")
    assert made.code == 0, made.err
    assert Ridge.load("m/model.npz").alpha_ in (10, 1000)
    assert "one person (column patient_id), add-or-remove-one" in made.out


def test_a_c_is_chosen_and_the_ledger_has_the_contest(granted):
    made = granted(*FIT, "--label", "smoker", "--epsilon", "1", "--out", "m", "--option", "C=private")
    assert made.code == 0, made.err
    assert LogisticRegression.load("m/model.npz").C_ in LogisticRegression().Cs
    assert json.loads(Path("m/promise.json").read_text())["event"]["events"][0]["kind"] == "parallel"


def test_a_list_that_is_none_is_refused_in_one_sentence(granted):
    given = ("--label", "cost", "--model", "ridge", "--epsilon", "2", "--out", "m")
    refused = granted(*FIT, *given, "--option", "alpha=private", "--option", "alphas=[1]")
    assert refused.code not in (0, 70)
    assert refused.err.count("\n") == 1
    assert "at least two" in refused.err
