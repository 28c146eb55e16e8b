"""`ziggurat compare`: figures, attacks with a control, and a page that asks nobody for anything."""

import html
import json
import re
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ziggurat.attacks import Share, epsilon_bound
from ziggurat.attacks._guesses import judge
from ziggurat.cli.compare._words import attack_lines
from ziggurat.synthesize import Synthesizer


def people(rows, seed):
    draw = np.random.default_rng(seed)
    age = draw.integers(18, 90, rows)
    sex = draw.choice(["fem", "mal"], rows)
    income = np.round(800 + 20 * age + 300 * (sex == "mal") + draw.normal(0, 300, rows), 1)
    return pa.table(
        {
            "person": [f"zz{seed}x{i}" for i in range(rows)],
            "age": age,
            "sex": sex,
            "region <b>": draw.choice([f"region {i} & more" for i in range(12)], rows),
            "income": pa.array(income, mask=draw.random(rows) < 0.1),
            "joined": pa.array([date(2020, 1, 1) + timedelta(days=int(i)) for i in draw.integers(0, 900, rows)]),
        }
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An original, rows held out, and two kinds of copies in files."""
    folder = tmp_path_factory.mktemp("compare")
    original = people(400, 1)
    pq.write_table(original, folder / "people.parquet")
    pq.write_table(people(200, 2), folder / "others.parquet")
    model = Synthesizer("linear", leave_out=["person"], random_state=1).fit(original)
    model.write(folder / "linear.parquet", copies=2)
    Synthesizer("sample", leave_out=["person"], random_state=1).fit(original).write(folder / "blind.csv")
    part = Synthesizer("sample", partial="income > 2000", leave_out=["person"], random_state=1).fit(original)
    part.write(folder / "part.parquet", copies=2)
    return folder


@pytest.fixture
def run(made, command):
    def asked(*arguments):
        files = [str(made / each) if (made / each).exists() else each for each in arguments]
        return command("compare", *files)

    return asked


def facts(outcome):
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


GIVEN = ("people.parquet", "linear.1.parquet", "linear.2.parquet", "--rehearse", "1")
ATTACKED = ("--holdout", "others.parquet", "--known", "age,sex", "--secret", "income")


def test_everything_is_shown_and_the_report_asks_nobody_for_anything(run):
    asked = ("--target", "sex", "--regression", "income ~ age + sex", "--report", "report.html")
    outcome = run(*GIVEN, *ATTACKED, *asked)
    assert outcome.code == 0, outcome.err
    assert re.search(r"age +mean +\d+\.\d +\d+\.\d +0\.\d+", outcome.out)
    for word in ("regression overlap", "predicting sex, AUC", "closest records", "inferring 'income'", "No privacy"):
        assert word in outcome.out
    assert "Column 'person' is left out" in outcome.out
    assert "zz1x" not in outcome.out + outcome.err
    assert "region 0" not in outcome.out + outcome.err
    page_asks_nobody(Path("report.html"))


def page_asks_nobody(file):
    """The page makes no request, has words for every picture, is for its owner, and names no person."""
    page = file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    assert not re.findall(r'(?:src|href)="(?!#)', page)
    assert not re.findall(r"url\((?!#)|@import|<script|<link|<img", page)
    assert page.count("<svg") == 9  # the plane, five columns, two heat maps, the regression
    assert page.count("<figure") == len(re.findall(r'role="img" aria-label="[^"]{10,}"><svg', page)) == 9
    assert "do not publish" in page
    assert "What is not promised" in page
    assert "zz1x" not in page
    assert "region <b>" not in page


def test_a_hold_out_is_asked_for(run):
    assert run(*GIVEN, "--quiet").out == ""
    outcome = run(*GIVEN)
    assert "No rows were held out" in outcome.out
    assert "the risk was not measured" in outcome.out
    assert "closest records" not in outcome.out


def test_json_holds_everything_and_numbered_copies_are_found(run, made):
    held = facts(run(GIVEN[0], str(made / "linear.parquet"), *ATTACKED, "--rehearse", "1", "--json"))
    only = held["candidates"][0]
    assert only["comparison"]["copies"] == 2
    assert 0 < only["utility"] < 1
    assert set(only["attacks"]) == {"closest records", "singling out", "linking", "inferring 'income'"}
    assert held["held_out"] == 200


def test_several_candidates_stand_in_one_plane(run, made):
    hostile = "blind <script>{{7*7}}${}"
    named = (f"linear={made}/linear.1.parquet,{made}/linear.2.parquet", f"{hostile}={made}/blind.csv")
    outcome = run("people.parquet", *named, *ATTACKED, "--rehearse", "1", "--report", "plane.html")
    assert "Of 2 candidates" in outcome.out
    page = Path("plane.html").read_text()
    assert page.count("<details") >= 2
    assert html.escape(hostile) in page
    assert "<script" not in page


def test_partially_synthetic_copies_say_so_themselves_and_are_matched(run):
    given = ("people.parquet", "part.1.parquet", "part.2.parquet", "--known", "age,income", "--rehearse", "1", "--json")
    held = facts(run(*given))["candidates"][0]
    assert held["comparison"]["estimates"]["combining"] == "partially"
    assert held["attacks"]["matching"]["targets"] == 400
    assert facts(run(*given, "--kind", "fully"))["candidates"][0]["attacks"] == {}


def test_candidates_are_fitted_by_the_command_itself(run):
    outcome = run(
        "people.parquet", "--try", "linear,sample", "--columns", "age,sex,income", "--rehearse", "1", "--json"
    )
    held = facts(outcome)
    assert [each["name"] for each in held["candidates"]] == ["linear", "sample"]
    assert held["held_out"] == 80
    assert all(each["seconds"] > 0 for each in held["candidates"])


def test_one_column_of_one_value_and_missing_cells_are_compared(run):
    pq.write_table(pa.table({"a": ["x"] * 40, "b": pa.array([None] * 40, pa.float64())}), "one.parquet")
    outcome = run("one.parquet", "one.parquet", "--holdout", "one.parquet", "--report", "one.html", "--rehearse", "1")
    assert outcome.code == 0, outcome.err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("people.parquet",), "Name files of synthetic rows"),
        (("people.parquet", "nothing.parquet"), "There is no file"),
        (("nothing.parquet", "blind.csv"), "There is no file"),
        (("people.parquet", "blind.csv", "--target", "incme"), "did you mean 'income'"),
        (("people.parquet", "blind.csv", "--regression", "income ~"), "A formula reads"),
        (("people.parquet", "blind.csv", "--columns", "person"), "Column 'person' is not in"),
        (("people.parquet", "blind.csv", "--kind", "half"), "'fully' or 'partially'"),
        (("people.parquet", "blind.csv", "--report", "report.pdf"), ".html"),
        (("people.parquet", "blind.csv", "--known", "age", "--secret", "age"), "both as known and as secret"),
        (("people.parquet", "a=blind.csv", "blind.csv"), "Name every candidate"),
        (("people.parquet", "strange.csv"), "is not in the original"),
        (("people.parquet", "empty.csv"), "no rows"),
        (("empty.csv", "empty.csv"), "no rows"),
        (("people.parquet", "broken.parquet"), "no Parquet file"),
        (("people.parquet", "--try", "crat"), "did you mean 'cart'"),
        (("people.parquet", "--try", "aim"), "at which epsilon"),
        (("people.parquet", "--try", "sample", "--holdout", "others"), "share of rows"),
    ],
)
def test_bad_input_gets_one_sentence(run, given, said):
    Path("strange.csv").write_text("age,shoe\n1,2\n")
    Path("empty.csv").write_text("age,sex\n")
    Path("broken.parquet").write_text("no table")
    outcome = run(*given)
    assert outcome.code in (2, 6)
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_line_tells_which_epsilon_an_attack_shows_and_whether_it_was_promised():
    kept = judge(Share(95, 100), Share(5, 100), Share(0, 1))
    for epsilon, bad in (("1", True), ("5", None)):
        found = epsilon_bound("linking", kept, people=200, kept_back=0.5, epsilon=epsilon)
        (line,) = attack_lines({"epsilon by linking": found})
        assert (line.name, line.bad) == ("epsilon by linking", bad)
        assert f"shown, {epsilon} promised" in line.verdict
