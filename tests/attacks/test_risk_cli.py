"""`ziggurat risk`: before and after side by side, and a report without outside requests."""

import html
import json
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ziggurat.cli.risk import risk
from ziggurat.errors import DataError, ParameterError, SchemaError

BEFORE = "age,sex,ill,person\n21,f,flu,1\n22,f,flu,2\n31,m,gout,3\n32,m,cold,4\n"
AFTER = "age,sex,ill\n20-29,f,flu\n20-29,f,flu\n30-39,m,gout\n30-39,m,cold\n"


@pytest.fixture
def asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    Path("before.csv").write_text(BEFORE)
    Path("after.csv").write_text(AFTER)
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command()(risk)

    def ask(*arguments):
        outcome = CliRunner().invoke(app, list(arguments))
        if outcome.exception is not None and not isinstance(outcome.exception, SystemExit):
            raise outcome.exception
        return outcome.stdout

    return ask


def test_before_and_after_stand_side_by_side(asked):
    shown = asked("before.csv", "--qi", "age,sex", "--after", "after.csv", "--sensitive", "ill")
    assert re.search(r"sample uniques +4 +0", shown)
    assert re.search(r"prosecutor risk, average +100.00% +50.00%", shown)
    assert "After: For 2 of 4 people (50.0%) 'ill' is certain" in shown


def test_the_join_is_shown(asked):
    shown = asked("after.csv", "--qi", "age", "--qi", "sex", "--auxiliary", "before.csv")
    assert "Join: Of 4 people in the auxiliary table 0 fit exactly one released row" in shown


def test_json_holds_every_figure(asked):
    given = ("--qi", "age,sex", "--after", "after.csv", "--auxiliary", "before.csv", "--json", "--fraction", "0.5")
    facts = json.loads(asked("before.csv", *given))
    assert set(facts) == {"before", "after", "linkage"}
    assert facts["before"]["risk"]["uniques"] == 4
    assert facts["after"]["risk"]["journalist"]["basis"] == "estimate"


def test_the_report_asks_nobody_for_anything(asked):
    asked("before.csv", "--qi", "age,sex", "--after", "after.csv", "--sensitive", "ill", "--report", "report.html")
    page = Path("report.html").read_text()
    assert page.count("<svg") == 3
    links = set(re.findall(r'(?:src|href)="([^"#]+)"', page))
    assert not links
    assert "default-src 'none'" in page
    assert Path("report.html").stat().st_mode & 0o077 == 0


def test_hostile_names_and_cells_stay_text_in_the_report(asked):
    known, secret = "<script>{{7*7}}${}", "</p><img onerror=x>"
    Path("odd.csv").write_text(f"{known},{secret}\n" + "".join(f"{i % 3},<b>{i % 2}</b>\n" for i in range(12)))
    asked("odd.csv", "--qi", known, "--sensitive", secret, "--report", "report.html")
    page = Path("report.html").read_text()
    assert html.escape(known) in page
    assert html.escape(secret) in page
    assert not re.search(r"<script|<img|<b>", page)
    assert "<b>0</b>" not in html.unescape(page)  # nor any cell, as a text or otherwise


def test_a_population_and_a_file_of_hierarchies_are_used(asked):
    Path("trees.csv").write_text(
        "attribute,level0,level1\n" + "".join(f"age,{a},{a // 10}0s\n" for a in (21, 22, 31, 32))
    )
    Path("named.csv").write_text(AFTER.replace("20-29", "20s").replace("30-39", "30s"))
    given = ("--qi", "age", "--after", "named.csv", "--population", "before.csv", "--hierarchies", "trees.csv")
    facts = json.loads(asked("before.csv", *given, "--json"))
    assert facts["after"]["risk"]["marketer"] == 0.5


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (("before.csv",), ParameterError),
        (("before.csv", "--qi", "aeg"), SchemaError),
        (("before.csv", "--qi", "age", "--report", "report.pdf"), DataError),
        (("before.csv", "--qi", "age", "--report", "nowhere/report.html"), DataError),
        (("before.csv", "--qi", "age", "--control", "after.csv"), ParameterError),
        (("before.csv", "--qi", "person", "--auxiliary", "after.csv"), ParameterError),
        (("nothing.csv", "--qi", "age"), DataError),
    ],
)
def test_bad_input_gets_one_sentence(asked, given, error):
    with pytest.raises(error):
        asked(*given)
