"""`ziggurat audit`: names, packages and fitted models; a refuted promise ends with exit code 1."""

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from ziggurat.attacks.audits import AuditCase
from ziggurat.attacks.audits.catalogue import _local

QUICK = ("--runs", "2000", "--seed", "1")


def test_a_name_is_audited_with_the_smallest_fault_that_is_seen(command):
    made = command("audit", "mechanisms.TruncatedGeometric", *QUICK, "--faults", "--out", "table.md")
    assert made.code == 0, made.err
    assert "does not prove it either" in made.out
    assert "None of 1 promises is refuted; that proves none of them." in made.out
    table = Path("table.md").read_text()
    assert table.splitlines()[2].startswith("| `mechanisms.TruncatedGeometric` | the counts 0 and 1 of at most 6")
    assert "2 times: caught" in table


def test_a_package_is_audited_as_json_and_as_a_table(command):
    made = command("audit", "local.CountNoise", "mechanisms.Laplace", *QUICK, "--json", "--out", "table.csv")
    found = json.loads(made.out)
    names = [each["name"] for each in found]
    assert names == ["mechanisms.Laplace", "mechanisms.Laplace.reals", "mechanisms.Laplace.vector", "local.CountNoise"]
    assert all(each["lower"] <= Fraction(each["claimed"]) == 1 for each in found)
    with Path("table.csv").open() as rows:
        assert [row["name"] for row in csv.DictReader(rows)] == names


def test_audits_are_named_and_a_wrong_name_is_helped(command):
    assert "local.Response: the first and the last" in command("audit", "local", "--list").out
    assert json.loads(command("audit", "local.Response", "--list", "--json").out)[0]["name"] == "local.Response"
    wrong = command("audit", "mechanisms.Laplac")
    assert wrong.code == 2
    assert "did you mean" in wrong.err
    assert command("audit", "local", "--out", "table.txt").code == 6


def test_a_refuted_promise_ends_with_exit_code_1(command, monkeypatch):
    tells = AuditCase("local.Leak", "two records", lambda _e: lambda world, runs, _s: np.full(runs, world), runs=400)
    monkeypatch.setattr(_local, "CASES", (tells,))
    made = command("audit", "local.Leak")
    assert made.code == 1
    assert "The promise is false: release nothing by it, and report this." in made.out
    assert "1 of 1 promises are refuted." in made.out


@pytest.fixture
def fitted(command):
    command("ledger", "budget", "clinic", "--epsilon", "6", "--delta", "1e-5", "--person", "patient_id")
    command("ledger", "grant", "clinic", "ada", "--epsilon", "6", "--delta", "1e-5")
    whom = ("--budget", "clinic", "--analyst", "ada", "--rehearse", "1", "--epsilon", "1", "--delta", "0")
    what = ("clinic", "--label", "smoker", "--column", "age", "--model", "naive-bayes", "--out", "m")
    return command("model", "fit", *what, *whom, "--audit", "200")


def test_a_fitted_model_is_audited_before_it_is_paid_for_and_again_without_its_rows(command, fitted):
    assert fitted.code == 0, fitted.err
    assert "An audit of GaussianNB on invented data (200 runs" in fitted.out
    assert json.loads(Path("m/promise.json").read_text())["audited"]["runs"] == 200
    made = command("audit", "m", "--runs", "200", "--seed", "1", "--json")
    assert made.code == 0, made.err
    (found,) = json.loads(made.out)
    assert (found["name"], found["claimed"], found["refuted"]) == ("GaussianNB", "1", False)
