"""The report: one file that needs nothing else, with every expected value beside ours."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from ziggurat.experiments import Expected, Experiment, Figure, Module, NodeRecord, Reproduces, Results, Run, report
from ziggurat.experiments.showing._report import number

NASTY = "<script>alert('x')</script> & \"quotes\""
MODULE = Module("m", "classify", trials=({"p": 1}, {"p": 2}), repeats=2, metrics=("accuracy",))
EXPERIMENT = Experiment(
    "example",
    (MODULE,),
    seed=7,
    title="An example",
    description="What it does.",
    reproduces=Reproduces("000", "figure 5.2", "Read off by eye."),
    figures=(Figure("a", "line", "m.p", "m.accuracy", "Lines"), Figure("b", "box", "m.p", "m.accuracy", "Boxes")),
    expected=(
        Expected("m.accuracy", 0.9, 0.05, {"m.p": 1}, remark="From the text."),
        Expected("m.accuracy", 0.9, 0.05, {"m.p": 2}, remark="From the table."),
        Expected("m.accuracy", 0.9, 0.05, {"m.p": 3}),
    ),
    digest="d" * 64,
)
RUN = Run(
    "20261115-120000-abcdef", "example", "d" * 64, "2026-11-15T12:00:00", "2026-11-15T12:01:00", "failed", "ray", True,
    {"ziggurat": "0.1.0", "python": "3.11.7", "numpy": "2.4.6"}, {},
)  # fmt: skip


def record(p, repeat, status="done", error=None, **metrics):
    node = f"m[p={p}]#{repeat}"
    return NodeRecord(node, "m", {"m.p": p}, {"m": repeat}, None, status, False, "", 0.5, error, metrics, {}, "k")


RECORDS = [record(1, 0, accuracy=0.91), record(1, 1, accuracy=0.93), record(2, 0, accuracy=0.5)]
FAILED = record(2, 1, "failed", "ValueError: it <broke>")


class Page(HTMLParser):
    """What a page holds: its tags, attributes and words."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words, self.open = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def page(experiment=EXPERIMENT, records=(*RECORDS, FAILED), **options):
    return Page(report(Results(experiment, records), **options))


def test_every_expected_value_stands_beside_ours_with_its_remark():
    text = page().text
    assert "1 of 3 expected values reproduced" in text
    assert "1 could not be compared" in text
    assert "median of m.accuracy m.p = 1 0.9 ± 0.05 0.92 +0.02 ✓ reproduced From the text." in text
    assert "median of m.accuracy m.p = 2 0.9 ± 0.05 0.5 −0.4 ✗ differs From the table." in text
    assert "– no value No run of 'm' was made with m.p = 3." in text


def test_it_says_what_it_reproduces_and_how_it_was_run():
    text = page(run=RUN).text
    for words in ("Reproduces document 000, figure 5.2", "Read off by eye.", "An example", "What it does."):
        assert words in text
    for words in ("seed 7", "d" * 64, "executor ray", "quick", "2026-11-15T12:01:00", "ziggurat 0.1.0", "numpy 2.4.6"):
        assert words in text
    assert "ziggurat experiment run runs/r1/experiment.json" in page(run_id="r1").text
    assert "ziggurat reproduce x" in page(command="ziggurat reproduce x").text


def test_summaries_and_failures_are_shown():
    text = page().text
    assert "metric n median q1 q3 mean min max 1 accuracy 2 0.9200 0.9150 0.9250 0.9200 0.9100 0.9300" in text
    assert "m[p=2]#1 ValueError: it <broke>" in text
    assert "Failures" not in page(records=RECORDS).text


def test_it_asks_nothing_of_the_outside_and_says_so_to_the_browser():
    found = page()
    assert not {"script", "link", "iframe", "object", "embed", "base", "form"} & set(found.tags)
    outside = [value for name, value in found.attributes if name in ("src", "href", "xlink:href", "action")]
    assert all(value.startswith("#") for value in outside)
    assert any("default-src 'none'" in (value or "") for name, value in found.attributes if name == "content")
    text = report(Results(EXPERIMENT, RECORDS))
    assert not re.search(r"@import|url\((?!#)", text)
    assert set(re.findall(r"https?://[^\"'\s<]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_identifiers_of_pictures_do_not_collide():
    ids = [value for name, value in page().attributes if name == "id"]
    assert len(ids) == len(set(ids)) > 10
    used = re.findall(r"(?:href=\"#|url\(#)([^\")]+)", report(Results(EXPERIMENT, RECORDS)))
    assert set(used) <= set(ids)


def test_nothing_written_in_an_experiment_becomes_markup():
    module = Module("m", NASTY, trials=({"p": NASTY},), metrics=(NASTY,))
    experiment = Experiment(
        NASTY, (module,), 0, NASTY, NASTY, Reproduces(NASTY, NASTY, NASTY),
        (Figure(NASTY, "bar", "m.p", f"m.{NASTY}", NASTY), Figure(NASTY, "bar", "m.p", f"m.x{NASTY}", NASTY)),
        (Expected(f"m.{NASTY}", 1, 1, {"m.p": NASTY}, remark=NASTY), Expected(f"m.{NASTY}", 1, 1, {NASTY: NASTY})),
        NASTY,
    )  # fmt: skip
    good = NodeRecord("n", "m", {"m.p": NASTY}, {}, None, "done", False, NASTY, 1.0, None, {NASTY: 1.0}, {}, "k")
    bad = replace(good, node=NASTY, status="failed", error=NASTY, metrics={})
    found = page(experiment, (good, bad), run_id=NASTY, run=replace(RUN, id=NASTY, executor=NASTY), command=NASTY)
    assert "script" not in found.tags
    assert found.open == []
    assert not [name for name, _ in found.attributes if name.startswith("on")]


def test_a_figure_that_cannot_be_drawn_is_a_sentence_in_its_place():
    experiment = replace(EXPERIMENT, figures=(Figure("f", "line", "m.p", "m.nothing"), EXPERIMENT.figures[0]))
    found = page(experiment)
    assert "Not drawn: Figure 'f' shows 'm.nothing', which no run measured" in found.text
    assert found.tags.count("svg") == 1


def test_without_expected_values_or_runs_it_is_still_a_report():
    text = page(replace(EXPERIMENT, expected=()), ()).text
    assert "There is no expected value to compare with." in text


def test_hundreds_of_trials_make_a_readable_report():
    records = [record(i, 0, accuracy=0.5) for i in range(500)]
    assert "300 more rows are in the table of results." in page(replace(EXPERIMENT, figures=()), records).text


@pytest.mark.parametrize(
    ("value", "text"), [(3, "3"), (0.5, "0.5000"), (123456.78, "123456.8"), (1e-7, "1.000e-07"), (-2.0, "-2")]
)
def test_numbers_read_well(value, text):
    assert number(value) == text
