"""Our own record of runs: nothing that was recorded is lost, whatever happens to the process."""

import json
import resource
import signal
import sqlite3
import subprocess
import sys
import textwrap

import pyarrow.parquet as pq
import pytest

from ziggurat.errors import ExperimentError
from ziggurat.experiments import Expected, Experiment, Figure, History, Module, NodeRecord, Reproduces, load, step
from ziggurat.experiments._types import StoredOutput


@step("history-test-colour")
def colour(r: float, g: float, b: float) -> dict[str, float]:
    return {"score": r + g + b}


COLOUR = {"r": 0.1, "g": 0.2, "b": 0.3}
EXPERIMENT = Experiment(
    "example",
    (Module("m", "history-test-colour", COLOUR, trials=({"r": 0.5}, {"r": 0.7}), repeats=2, metrics=("score",)),),
    seed=7,
    title="Größe",
    reproduces=Reproduces("000", "figure 5.2"),
    figures=(Figure("f", "line", "m.r", "m.score"),),
    expected=(Expected("m.score", 1.0, 0.5, {"m.r": 0.5}),),
    digest="d" * 64,
)


def record(i=0, status="done", **changes):
    parts = {
        "node": f"m[r={i}]#0",
        "module": "m",
        "varied": {"m.r": i},
        "repeats": {"m": 0},
        "parent": None,
        "status": status,
        "cached": i % 2 == 1,
        "started": "2026-11-15T12:00:00+00:00",
        "seconds": 0.25,
        "error": None if status == "done" else "ValueError: ‘no’",
        "metrics": {"score": 0.1 + i},
        "outputs": {"table": StoredOutput("arrow", "abc", 10), "score": StoredOutput("json", "def", 3, "0.1")},
        "key": "k",
    }
    return NodeRecord(**{**parts, **changes})


def child(code, folder, **options):
    """Run code in another process with the store's folder as its argument."""
    prelude = f"import sys; sys.argv[0] = ''\nfolder = {str(folder)!r}\n"
    prelude += f"import importlib.util as u; s = u.spec_from_file_location('helpers', {__file__!r})\n"
    prelude += "h = u.module_from_spec(s); s.loader.exec_module(h)\n"
    return subprocess.run(
        [sys.executable, "-c", prelude + textwrap.dedent(code)], capture_output=True, text=True, timeout=120, **options
    )


def test_records_and_experiment_come_back_as_they_were(tmp_path):
    written = [record(0), record(1, "failed", metrics={}), record(2, "skipped", parent="m[r=1]#0")]
    with History(tmp_path) as history:
        run = history.start(EXPERIMENT, "inline", quick=True)
        for each in written:
            history.record(run, each)
        assert history.records(run) == written
        assert history.experiment(run) == EXPERIMENT


def test_the_experiment_beside_the_results_can_be_loaded_and_run_again(tmp_path):
    with History(tmp_path) as history:
        run = history.start(EXPERIMENT)
        loaded = load(history.folder(run) / "experiment.json")
    assert (loaded.modules, loaded.figures, loaded.seed) == (EXPERIMENT.modules, EXPERIMENT.figures, 7)


def test_runs_are_told_newest_first_with_their_counts(tmp_path):
    with History(tmp_path) as history:
        first, second = history.start(EXPERIMENT), history.start(EXPERIMENT, "processes")
        history.record(first, record(1))
        history.record(first, record(2, "failed"))
        history.finish(first, "failed")
        runs = history.runs()
    assert [run.id for run in runs] == [second, first]
    assert [(run.name, run.digest, run.status) for run in runs] == [
        ("example", "d" * 64, "running"),
        ("example", "d" * 64, "failed"),
    ]
    assert runs[1].counts == {"all": 2, "done": 1, "failed": 1, "skipped": 0, "cached": 1}
    assert set(runs[0].versions) == {"ziggurat", "numpy", "python", "platform"}


def test_a_finished_run_leaves_its_table_as_parquet_and_nothing_half_written(tmp_path):
    with History(tmp_path) as history:
        run = history.start(EXPERIMENT)
        history.record(run, record())
        history.finish(run, "done")
        assert pq.read_table(history.folder(run) / "results.parquet").equals(history.results(run).table())
        assert sorted(path.name for path in history.folder(run).iterdir()) == ["experiment.json", "results.parquet"]


def test_a_killed_process_loses_no_record_and_its_run_shows_as_interrupted(tmp_path):
    ended = child(
        """
        import os, signal, sqlite3, time
        history = h.History(folder)
        run = history.start(h.EXPERIMENT)
        for i in range(450):
            history.record(run, h.record(i))
        other = sqlite3.connect(folder + "/history.db")
        for _ in range(600):
            if other.execute("SELECT count(*) FROM records").fetchone()[0] == 450:
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(0.1)
        """,
        tmp_path,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    with History(tmp_path) as history:
        (run,) = history.runs()
        assert (run.status, run.counts["all"]) == ("interrupted", 450)
        assert history.records(run.id)[449] == record(449)


def test_a_process_that_forgets_to_finish_loses_no_record(tmp_path):
    code = "history = h.History(folder)\nrun = history.start(h.EXPERIMENT)\n"
    ended = child(code + "for i in range(7): history.record(run, h.record(i))", tmp_path)
    assert ended.returncode == 0, ended.stderr
    with History(tmp_path) as history:
        assert history.runs()[0].counts["all"] == 7


def test_an_error_in_the_run_keeps_all_records_and_marks_it_stopped(tmp_path):
    def interrupted():
        with History(tmp_path) as history:
            run = history.start(EXPERIMENT)
            for i in range(5):
                history.record(run, record(i))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with History(tmp_path) as history:
        assert (history.runs()[0].status, history.runs()[0].counts["all"]) == ("stopped", 5)


def test_several_processes_share_a_history(tmp_path):
    code = "history = h.History(folder)\nrun = history.start(h.EXPERIMENT)\n"
    code += "for i in range(300): history.record(run, h.record(i))\nhistory.finish(run, 'done')\nhistory.close()"
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(3) as pool:
        ended = list(pool.map(lambda _: child(code, tmp_path), range(3)))
    assert [each.returncode for each in ended] == [0] * 3, ended[0].stderr
    with History(tmp_path) as history:
        assert [(run.status, run.counts["all"]) for run in history.runs()] == [("done", 300)] * 3


def test_a_full_disk_is_one_sentence_and_what_was_written_stays(tmp_path):
    code = """
        from ziggurat.errors import ExperimentError
        history = h.History(folder)
        run = history.start(h.EXPERIMENT)
        for i in range(20_000):
            try:
                history.record(run, h.record(i))
            except ExperimentError as error:
                print(error)
                break
        import os; os._exit(0)
        """

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))

    ended = child(code, tmp_path, preexec_fn=limit)
    assert "is the disk full" in ended.stdout, ended.stderr
    assert len(ended.stdout.strip().splitlines()) == 1
    with History(tmp_path) as history:
        assert history.runs()[0].counts["all"] % 200 in (0, 1)
        assert history.runs()[0].counts["all"] > 0


@pytest.mark.parametrize(
    "content", [b"not a database, but long enough to be looked at" * 30, b"SQLite format 3\0" + b"\xff" * 4096]
)
def test_a_damaged_history_is_one_sentence(tmp_path, content):
    (tmp_path / "history.db").write_bytes(content)
    with pytest.raises(ExperimentError, match=r"is damaged; move it away and a new one is begun\.$"):
        History(tmp_path)


def test_damage_inside_the_file_is_one_sentence(tmp_path):
    with History(tmp_path) as history:
        run = history.start(EXPERIMENT)
        history.record(run, record())
    with sqlite3.connect(tmp_path / "history.db") as raw:
        raw.execute("UPDATE records SET metrics = '{broken'")
    with History(tmp_path) as history, pytest.raises(ExperimentError, match="is damaged"):
        history.records(run)


def test_another_programs_database_is_left_alone(tmp_path):
    with sqlite3.connect(tmp_path / "history.db") as raw:
        raw.execute("CREATE TABLE theirs (x)")
    with pytest.raises(ExperimentError, match="not a history"):
        History(tmp_path)
    with sqlite3.connect(tmp_path / "history.db") as raw:
        assert raw.execute("SELECT name FROM sqlite_schema").fetchall() == [("theirs",)]


def test_a_store_that_cannot_be_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ExperimentError, match="could not be written"):
        History(tmp_path / "file")
    with pytest.raises(ExperimentError, match="run an experiment first"):
        History(tmp_path / "nowhere", create=False)
    assert not (tmp_path / "nowhere").exists()


def test_a_run_is_found_by_the_beginning_of_its_name(tmp_path):
    with History(tmp_path) as history:
        run = history.start(EXPERIMENT)
        history.start(EXPERIMENT)
        assert history.run(run).id == history.run(run[:-1]).id == run
        with pytest.raises(ExperimentError, match="2 runs begin with '2'"):
            history.run("2")
        with pytest.raises(ExperimentError, match="There is no run 'x'"):
            history.run("x")
        with pytest.raises(ExperimentError, match="There is no run"):
            history.experiment("../../etc")


def test_an_inline_value_that_is_no_json_does_not_stop_the_record(tmp_path):
    with History(tmp_path) as history:
        run = history.start(EXPERIMENT)
        history.record(run, record(outputs={"raw": StoredOutput("bytes", "abc", 3, b"abc")}))
        assert history.records(run)[0].outputs["raw"] == StoredOutput("bytes", "abc", 3, None)
    assert json.loads((tmp_path / "runs" / run / "experiment.json").read_text())["name"] == "example"
