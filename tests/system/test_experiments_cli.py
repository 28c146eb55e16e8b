"""Experiments from the command line as a person meets them: real processes, real files."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ZIGGURAT = str(Path(sys.executable).parent / "ziggurat")

STEPS = """
from ziggurat.experiments import step


@step("my-numbers")
def numbers(count: int) -> dict:
    return {"many": list(range(count))}


@step("my-total")
def total(many: list, factor: float, seed: int) -> dict:
    if factor < 0:
        raise ValueError("the factor is negative")
    return {"total": factor * sum(many), "seed": seed % 97}
"""

OWN = ("--steps", "mysteps.py")
SMALL = {
    "name": "small",
    "title": "A small experiment",
    "seed": 5,
    "quick": {"totals.repeats": 1},
    "modules": [
        {"id": "numbers", "step": "my-numbers", "parameters": {"count": 4}},
        {
            "id": "totals",
            "step": "my-total",
            "inputs": {"many": "numbers.many"},
            "trials": {"grid": {"factor": [1, 2]}},
            "repeats": 3,
            "metrics": ["total"],
        },
    ],
    "figures": [{"id": "totals", "kind": "line", "x": "totals.factor", "y": "totals.total"}],
    "expected": [{"metric": "totals.total", "value": 6, "tolerance": 0, "where": {"totals.factor": 1}}],
}


def caller(folder):
    (folder / "mysteps.py").write_text(STEPS)

    def call(*arguments, **environment):
        clean = {**os.environ, "HOME": str(folder), "COLUMNS": "160"}
        clean.pop("ZIGGURAT_STORE", None)
        return subprocess.run(
            [ZIGGURAT, *arguments],
            cwd=folder,
            env={**clean, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    return call


@pytest.fixture
def run(tmp_path):
    return caller(tmp_path)


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """A folder in which the example of figure 5.2 has been run, and how to go on there."""
    folder = tmp_path_factory.mktemp("example")
    call = caller(folder)
    done = call("reproduce", "000-fig-5-2", "--quick", "--store", "inline")
    assert done.returncode == 0, done.stderr
    return folder, call, done


@pytest.fixture
def write(tmp_path):
    def put(file="small.json", **changes):
        (tmp_path / file).write_text(json.dumps({**SMALL, **changes}, indent=1))
        return file

    return put


def report_of(result):
    line = result.stdout.strip().splitlines()[-1]
    assert line.startswith("The report is in "), result.stderr
    return Path(line.removeprefix("The report is in ").removesuffix("."))


def changed(factors):
    modules = json.loads(json.dumps(SMALL["modules"]))
    modules[1]["trials"] = {"grid": {"factor": factors}}
    return modules


def test_the_catalogue_is_listed_by_document_and_figure(run):
    shown = run("reproduce")
    assert shown.returncode == 0, shown.stderr
    for piece in ("000-fig-5-2", "figure 5.2", "003-mechanisms", "--quick"):
        assert piece in shown.stdout


def test_the_example_of_figure_5_2_runs_end_to_end_and_a_second_time_from_the_cache(example):
    _, run, first = example
    report = report_of(first)
    assert "figure 5.2" in report.read_text()
    drawn = {each.name for each in (report.parent / "figures").iterdir()}
    assert drawn == {"utility.svg", "distortion.svg", "accuracies.svg"}
    planned = run("experiment", "plan", "000-fig-5-2", "--quick", "--store", "inline")
    assert "19 runs, of which 19 are cached." in planned.stdout
    second = run("reproduce", "000-fig-5-2", "--quick", "--store", "inline")
    assert "19 runs, 19 of them from the cache." in second.stdout


def test_a_process_pool_gives_the_same_numbers(example):
    folder, run, _ = example
    pool = run("reproduce", "000-fig-5-2", "--quick", "--executor", "processes", "--workers", "2", "--store", "pool")
    assert pool.returncode == 0, pool.stderr
    told = []
    for store in ("inline", "pool"):
        run("experiment", "results", "000-fig-5-2", "--out", f"{store}.csv", "--store", store)
        with (folder / f"{store}.csv").open() as lines:
            told.append([(row["node"], row["metric"], row["value"]) for row in csv.DictReader(lines)])
    assert told[0] == told[1]
    assert len(told[0]) > 40


@pytest.mark.parametrize("variant", ["torch", "keras"])
def test_the_other_variants_run_end_to_end(variant, run):
    os.environ.setdefault("KERAS_BACKEND", "torch")
    pytest.importorskip("torch")
    pytest.importorskip(variant)
    done = run("reproduce", f"000-fig-5-2-{variant}", "--quick")
    assert done.returncode == 0, done.stderr
    assert report_of(done).is_file()


def test_a_plan_shows_the_tree_and_leaves_nothing_behind(run, write, tmp_path):
    shown = run("experiment", "plan", write(), *OWN)
    assert (shown.returncode, "6 runs (2 trials × 3 repeats)" in shown.stdout) == (0, True)
    assert "7 runs, of which 0 are cached." in shown.stdout
    assert "3 runs" in run("experiment", "plan", "small.json", *OWN, "--quick").stdout
    assert not (tmp_path / ".ziggurat").exists()


def test_a_file_of_ones_own_runs_and_its_results_can_be_taken_away(run, write, tmp_path):
    done = run("experiment", "run", write(), *OWN, ZIGGURAT_STORE="mine")
    assert done.returncode == 0, done.stderr
    assert "1 of 1 expected values are reproduced" in done.stdout
    assert report_of(done).is_relative_to(tmp_path / "mine" / "runs")
    out = ("--out", "out.csv", "--report", "out.html", "--figures", "drawn")
    shown = run("experiment", "results", "small.json", *out, ZIGGURAT_STORE="mine")
    assert shown.returncode == 0, shown.stderr
    assert "reproduced" in shown.stdout
    assert (tmp_path / "out.csv").read_text().count("\n") == 1 + 7
    assert "<svg" in (tmp_path / "out.html").read_text()
    assert {each.name for each in (tmp_path / "drawn").iterdir()} == {"totals.svg", "totals.png"}


def test_a_failed_trial_is_told_of_and_the_rest_is_finished(run, write):
    done = run("experiment", "run", write(modules=changed([1, -1])), *OWN)
    assert done.returncode == 1
    assert "3 failed and 0 were skipped" in done.stdout
    assert "the factor is negative" in report_of(done).read_text()
    assert "1 of 1 expected values are reproduced" in done.stdout


def test_two_runs_are_compared_by_what_was_asked_and_what_came_out(run, write):
    run("experiment", "run", write(), *OWN)
    run("experiment", "run", write("other.json", name="other", seed=6, modules=changed([1, 3])), *OWN)
    shown = run("experiment", "compare", "small.json", "other.json").stdout
    assert "seed was 5 and is 6." in shown
    assert 'totals trials was [{"factor": 1}, {"factor": 2}] and is [{"factor": 1}, {"factor": 3}].' in shown
    assert "+0" in shown
    assert "Both were asked for the same." in run("experiment", "compare", "small.json", "small.json").stdout


def test_the_schema_is_printed_as_json(run):
    assert json.loads(run("experiment", "schema").stdout)["type"] == "object"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("reproduce", "000-fig-5"), "did you mean '000-fig-5-2'"),
        (("experiment", "run", "absent.json"), "absent.json"),
        (("experiment", "run", "small.json", *OWN, "--executor", "cloud"), "cloud"),
        (("experiment", "run", "small.json", *OWN, "--workers", "0", "--executor", "processes"), "workers"),
        (("experiment", "run", "small.json"), "--steps"),
        (("experiment", "plan", "wrong.json"), "did you mean 'step'"),
        (("experiment", "results", "2020"), "run an experiment first"),
        (("experiment", "compare", "small.json", "small.json"), "run an experiment first"),
        (("experiment", "run", "small.json", *OWN, "--store", "small.json"), "small.json"),
    ],
)
def test_bad_input_gets_one_sentence_and_a_code_that_says_why(arguments, words, run, write):
    write()
    write("wrong.json", modules=[{"id": "a", "stp": "b"}])
    told = run(*arguments)
    assert told.returncode in (2, 6), told.stderr
    assert words in told.stderr
    assert "Traceback" not in told.stderr
    assert len(told.stderr.strip().splitlines()) == 1
    assert told.stderr.startswith("Error: ")


def test_what_was_never_run_has_no_results(run, write):
    run("experiment", "run", write(), *OWN)
    told = run("experiment", "results", "003-mechanisms")
    assert (told.returncode, "has not been run yet" in told.stderr) == (2, True)
    unknown = run("experiment", "results", "20000101")
    assert (unknown.returncode, "There is no run" in unknown.stderr) == (2, True)
