"""`ziggurat model`: fit under a budget, predict, evaluate."""

import json
import re
from pathlib import Path

import pytest


@pytest.fixture
def granted(command):
    for name, relation in (("clinic", ()), ("swapped", ("--relation", "replace-one"))):
        budget = ("--epsilon", "6", "--delta", "1e-5", "--person", "patient_id", *relation)
        command("ledger", "budget", name, *budget)
        command("ledger", "grant", name, "ada", "--epsilon", "6", "--delta", "1e-5")
    command("data", "invent", "clinic", "--rows", "300", "--seed", "6", "--out", "test.csv")
    return command


FIT = ("model", "fit", "clinic", "--budget", "clinic", "--analyst", "ada", "--rehearse", "1", "--column", "age")


def test_a_number_is_learned_predicted_and_judged(granted):
    given = ("--label", "cost", "--column", "length_of_stay", "--epsilon", "2", "--out", "m", "--option", "alpha=0.5")
    made = granted(*FIT, *given, "--model", "ridge")
    assert made.code == 0, made.err
    assert "one person (column patient_id), add-or-remove-one" in made.out
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


METHODS = [
    ("cost", "linear", "adassp"), ("cost", "linear", "functional"), ("cost", "linear", "objective"),
    ("cost", "ridge", "output"), ("cost", "ridge", "input"), ("cost", "lasso", "adassp"),
    ("cost", "elastic-net", "functional"), ("smoker", "logistic", "objective"), ("smoker", "logistic", "output"),
    ("smoker", "naive-bayes", ""), ("smoker", "tree", ""), ("smoker", "forest", ""),
]  # fmt: skip


@pytest.mark.parametrize(("label", "model", "method"), METHODS)
def test_the_budget_decides_the_relation_of_every_method(granted, label, model, method):
    options = ("--option", f"method={method}") if method else ()
    options += ("--option", "expected_rows=10000") if method in ("output", "input") else ()
    for budget, relation in (("clinic", "add-or-remove-one"), ("swapped", "replace-one")):
        given = ("--label", label, "--model", model, "--epsilon", "1", "--out", f"m-{budget}", "--budget", budget)
        made = granted(*FIT, *given, *options)
        assert made.code == 0, made.err
        assert f"(one person (column patient_id), {relation}" in made.out
        assert granted("model", "show", f"m-{budget}", "--check").code == 0


def test_what_needs_a_size_says_so_and_the_relation_is_no_option(granted):
    given = ("--label", "cost", "--model", "ridge", "--epsilon", "1", "--out", "m")
    refused = granted(*FIT, *given, "--option", "method=output")
    assert refused.code in (2, 6)
    assert "declare expected_rows, a public number" in refused.err
    assert "no option" in granted(*FIT, *given, "--option", "relation=replace-one").err
    assert "0 questions" in granted("ledger", "show", "clinic").out


def test_a_table_without_rows_costs_and_shows_what_any_other_does(granted):
    granted("data", "invent", "clinic", "--rows", "40", "--seed", "6", "--out", "few.csv", "--schema", "few.yaml")
    Path("none.csv").write_text(Path("few.csv").read_text().splitlines()[0] + "\n")
    Path("none.yaml").write_text(Path("few.yaml").read_text())
    said = []
    for table in ("few", "none"):
        whom = ("--budget", "clinic", "--analyst", "ada", "--epsilon", "0.5", "--out", table, "--label", "smoker")
        made = granted("model", "fit", f"{table}.csv", *whom, "--column", "age")
        assert made.code == 0, made.err
        said.append(re.sub(r"entry \d+|hash \w+", "", made.out.replace(table, "")))
    assert said[0] == said[1]


def test_a_budget_of_another_unit_than_the_table_has_is_refused(granted):
    granted("ledger", "budget", "wards", "--epsilon", "6", "--delta", "1e-5", "--unit", "ward=department")
    granted("ledger", "grant", "wards", "ada", "--epsilon", "6", "--delta", "1e-5")
    refused = granted(*FIT, "--label", "cost", "--epsilon", "1", "--out", "m", "--budget", "wards")
    assert refused.code in (2, 6)
    assert "name the same column in both" in refused.err


def test_a_quote_says_why_one_model_takes_a_whole_grant_under_the_sum_rule(granted):
    granted("ledger", "budget", "sums", "--epsilon", "6", "--delta", "1e-6", "--person", "patient_id")
    granted("ledger", "grant", "sums", "ada", "--epsilon", "6", "--delta", "1e-6", "--rule", "sum")
    told = granted(*FIT, "--label", "cost", "--epsilon", "1", "--out", "m", "--budget", "sums", "--quote")
    assert told.code == 0, told.err
    assert "leaving epsilon 0, because the first question has no epsilon that the sum rule could add up" in told.out


def test_rows_are_a_unit_that_can_be_named(granted):
    made = granted("ledger", "budget", "rows", "--epsilon", "1", "--unit", "row")
    assert made.code == 0, made.err
    assert "one row, add-or-remove-one" in made.out


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


def test_errors_are_told_by_groups_of_a_column_also_if_the_model_does_not_look_at_it(granted):
    granted(*FIT, "--label", "smoker", "--column", "bmi", "--epsilon", "0.5", "--out", "m")
    told = granted("model", "evaluate", "m", "test.csv", "--by", "sex").out
    rows = [int(each) for each in re.findall(r"share named wrongly, sex \w+ \((\d+) rows\)", told)]
    assert len(rows) >= 2
    assert "gap between groups of sex" in told
    few = re.search(r"groups of sex with fewer than 30 rows: 1", told)
    assert sum(rows) == 300 or few
    cut = json.loads(granted("model", "evaluate", "m", "test.csv", "--by", "age", "--json").out)
    assert any(name.startswith("share named wrongly, age 18 to 38.25") for name in cut)
    assert granted("model", "evaluate", "m", "test.csv", "--by", "nowhere").code != 0
